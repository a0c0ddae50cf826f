"""Find near-duplicates in Spark DataFrames, with the answer of a single machine, to the bit.

    from fastlsh.integrations import spark as fastlsh_spark

    kept = fastlsh_spark.deduplicate(df, text="text", id="id", threshold=0.8)

Because only DataFrame operations are used, this also works over Spark Connect. It needs
``pip install pyspark pyarrow pandas`` where the program runs, and fastlsh, numpy, pyarrow and
pandas on the executors. docs/spark.md describes how to prepare a cluster and what each step costs.
"""

from fastlsh.integrations.spark.functions import (
    annotate,
    clusters,
    deduplicate,
    limited_documents,
    near_duplicates,
    proofs,
)

__all__ = [
    "annotate",
    "clusters",
    "deduplicate",
    "limited_documents",
    "near_duplicates",
    "proofs",
]
