"""Integers: expressions, quantities, relations, domains, provers, safe regions, examples.

Everything here answers for integers and conditions on them; nothing knows Relax, memory or text. `translate`
reads TVM's primitive expressions, `backend` asks TVM's own analyzer. May import `vm` (how TVM's versions
differ) and `support`.
"""
