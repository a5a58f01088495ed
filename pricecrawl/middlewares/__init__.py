"""The way of a request: may we, as whom, how fast. Thin shells; every yes or no comes from `domain`."""
