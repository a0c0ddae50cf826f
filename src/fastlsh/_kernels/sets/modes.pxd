# How candidates are verified.

cdef enum:
    BY_SETS = 0
    BY_SIGNATURE = 1
    NOT_VERIFIED = 2
    BY_CONTAINMENT = 3          # by sets, too; of the keep-or-drop step only
