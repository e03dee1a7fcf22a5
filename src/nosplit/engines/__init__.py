"""The loop made far: the same `Moments`, from data that lies on a cluster.

`layout` says which rows make which block of units, `parts` what a block gives, `cluster` how a test
is made of that, and `dask` and `spark` where the blocks are worked on.
"""
