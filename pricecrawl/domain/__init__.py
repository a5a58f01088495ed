"""The pure core: vocabulary, readers and rules. No I/O, no clock; time is an argument."""
