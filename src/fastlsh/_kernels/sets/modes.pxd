# How candidates are verified.

cdef enum:
    BY_SETS = 0
    BY_SIGNATURE = 1
    NOT_VERIFIED = 2
    BY_TEXTS = 3                # as by sets, which are made of the texts
    BY_CONTAINMENT = 4          # the share of a set that is in another one; by sets or texts
