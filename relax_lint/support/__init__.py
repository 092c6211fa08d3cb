"""What the whole tool uses and that knows nothing of Relax: encoding, files, text.

Imports nothing of the tool.
"""
