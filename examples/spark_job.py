"""Removes the near-duplicates of a Parquet data set: spark-submit spark_job.py INPUT OUTPUT.

INPUT must have a column of texts and one of unique ids. OUTPUT gets the kept rows, and
OUTPUT.proofs for each removed id the kept one like it.
"""

import argparse

from pyspark.sql import SparkSession

from fastlsh.integrations.spark import proofs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--text", default="text")
    parser.add_argument("--id", default="id")
    parser.add_argument("--threshold", type=float, default=0.8)
    options = parser.parse_args()

    spark = SparkSession.builder.appName("near-duplicates").getOrCreate()
    documents = spark.read.parquet(options.input)
    removed = proofs(documents, options.threshold, text=options.text, id=options.id)
    removed.write.parquet(f"{options.output}.proofs")
    removed = spark.read.parquet(f"{options.output}.proofs")
    gone = removed.select(removed["id"].alias(options.id))
    documents.join(gone, options.id, "left_anti").write.parquet(options.output)
    print(f"{removed.count():,} of {documents.count():,} documents removed")
    spark.stop()


if __name__ == "__main__":
    main()
