"""Families of documents from links that are spread over a cluster, in one of two ways."""

from typing import Any

from fastlsh import stages

LINKS = 512 << 20
"""Bytes of links, 16 for each, up to which the driver finds the families by itself."""

BROADCAST = 1 << 22
"""Documents in families that every executor may hold: 16 bytes each, about 0.2 GB in Spark."""


def on_driver(links: Any) -> Any:
    """Return (number, family) of all documents in families, found by one union-find.

    Parameters
    ----------
    links
        DataFrame (later, earlier); it is collected, 16 bytes a row.
    """
    import pyarrow
    from pyspark.sql import functions

    union = stages.UnionFind()
    for batch in links.toArrow().to_batches():
        union.unite(batch.column(0), batch.column(1))
    families = union.families()
    table = pyarrow.table({"number": families.number, "family": families.family})
    frame = links.sparkSession.createDataFrame(table)
    return functions.broadcast(frame) if table.num_rows <= BROADCAST else frame


def by_rounds(links: Any) -> Any:
    """Return the same families, found by rounds of large-star and small-star.

    Kiveris et al., Connected Components in MapReduce and Beyond, SoCC 2014. Each round is two
    joins, and is written into Spark's checkpoint directory. Rounds grow with the logarithm of
    the number of documents; usually there are three to six.

    Parameters
    ----------
    links
        DataFrame (later, earlier).
    """
    from pyspark.sql import functions

    col = functions.col
    edges = links.select(
        functions.greatest("later", "earlier").alias("big"),
        functions.least("later", "earlier").alias("small"),
    ).where("big != small")
    before = None
    while True:
        edges = _checkpoint(_small_star(_large_star(edges)).distinct())
        state = edges.select(
            functions.count("*"), functions.bit_xor(functions.xxhash64("big", "small"))
        ).first()
        if state == before:  # stars around the smallest number of each family
            break
        before = state
    members = edges.select(col("big").alias("number"), col("small").alias("family"))
    centres = edges.select(col("small").alias("number"), col("small").alias("family"))
    return members.unionAll(centres.distinct())


def _large_star(edges: Any) -> Any:
    """Link each greater neighbour of a document to the least of all its neighbours and itself."""
    from pyspark.sql import functions

    both = edges.unionAll(edges.selectExpr("small AS big", "big AS small"))
    both = both.toDF("number", "neighbour")
    least = both.groupBy("number").agg(
        functions.least(functions.min("neighbour"), functions.col("number")).alias("least")
    )
    joined = both.where("neighbour > number").join(least, "number")
    return joined.selectExpr("neighbour AS big", "least AS small")


def _small_star(edges: Any) -> Any:
    """Link each document and its lesser neighbours to the least of them."""
    from pyspark.sql import functions

    least = edges.groupBy("big").agg(functions.min("small").alias("least"))
    neighbours = edges.join(least, "big").selectExpr("small AS big", "least AS small")
    own = least.selectExpr("big", "least AS small")
    return neighbours.unionAll(own).where("big != small")


def _checkpoint(frame: Any) -> Any:
    """Write a DataFrame into the checkpoint directory, and return it as read from there."""
    try:
        return frame.checkpoint()
    except Exception as error:
        if "checkpoint directory" not in str(error).lower():
            raise
        raise ValueError(
            "families are found in rounds, which need a checkpoint directory: set "
            "spark.checkpoint.dir, to a folder that all executors reach"
        ) from None
