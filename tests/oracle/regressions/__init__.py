"""Programs on which there once was no agreement: one module each, with a `PROGRAM`, and a `STRATEGY` where it was
its fixes.
"""
