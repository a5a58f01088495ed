"""From the text of one response to price candidates, stock readings and product facts.

Everything works on one parsed tree per page and never touches the network, a clock or a database.
"""
