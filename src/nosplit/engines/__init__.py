"""The loop made far: the same `Moments`, from data that lies on a cluster.

`layout` says which rows make which block of units, `parts` what a block gives, and `dask` and
`spark` where the blocks are worked on.
"""
