"""One call of another library: ``python limited_program.py LIBRARY CALL OPTIONS``.

The process imports nothing from this project, so any Python that has the library can run it. OPTIONS is a
JSON object: "files" of Parquet, whose first two columns are the ends of undirected edges, "folder" for
temporary files, "result" for the Parquet file of the answer, "threads", "limit" in bytes and "jar". The
last line of the output is a JSON object: "seconds" without imports, and "version".
"""

import json
import sys
import time
from importlib.metadata import version

ALPHA, ITERATIONS = 0.85, 10
HEAP = 0.6  # part of the limit for Java's heap; Java, Python and Linux need the rest


class Arrays:
    """The common base of libraries that take arrays of ids.

    Each call returns one value per vertex. A search returns NaN for vertices that it does not reach.
    """

    def __init__(self, options):
        self.options = options

    def write(self, values):
        """Write the answer to a Parquet file."""
        import numpy as np
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({"vertex": np.arange(len(values)), "value": values})
        parquet.write_table(table, self.options["result"])

    def ends(self):
        """Return the ends of the edges, and the number of vertices."""
        import pyarrow as pa
        from pyarrow import parquet

        tables = [parquet.read_table(path) for path in self.options["files"]]
        source, target = (pa.concat_tables(tables).column(at).to_numpy() for at in (0, 1))
        return source, target, max(source.max(), target.max()) + 1


class Scipy(Arrays):
    """A CSR matrix of the edges as they are given; calls also use its transpose."""

    package = "scipy"

    def build(self):
        import numpy as np
        from scipy.sparse import coo_array

        source, target, size = self.ends()
        ones = np.ones(len(source), "float32")
        self.matrix = coo_array((ones, (source, target)), shape=(size, size)).tocsr()

    def connected_components(self):
        from scipy.sparse.csgraph import connected_components

        return connected_components(self.matrix, directed=False)[1]

    def bfs(self):
        import numpy as np
        from scipy.sparse.csgraph import breadth_first_order

        order, before = breadth_first_order(self.matrix, 0, directed=False)
        reached = np.full(self.matrix.shape[0], np.nan)
        reached[order] = before[order]
        return reached

    def pagerank(self):
        import numpy as np

        matrix, turned = self.matrix, self.matrix.T
        degrees = matrix.sum(axis=1) + matrix.sum(axis=0)
        used, size = degrees > 0, np.count_nonzero(degrees)
        rank = used / size
        for _ in range(ITERATIONS):
            share = np.divide(rank, degrees, out=np.zeros(len(rank), "float32"), where=used)
            rank = used * (ALPHA * (matrix @ share + turned @ share) + (1 - ALPHA) / size)
        return rank


class Networkit(Arrays):
    """NetworKit's graphs."""

    package = "networkit"

    def build(self):
        import networkit

        networkit.setNumberOfThreads(self.options["threads"])
        source, target, size = self.ends()
        edges = source.astype("uint64"), target.astype("uint64")
        self.nk, self.g = networkit, networkit.GraphFromCoo(edges, n=int(size))

    def connected_components(self):
        made = self.nk.components.ParallelConnectedComponents(self.g).run()
        return made.getPartition().getVector()

    def bfs(self):
        import numpy as np

        made = self.nk.distance.BFS(self.g, 0, storePaths=False).run()
        distances = np.array(made.getDistances(asarray=True))
        distances[distances == np.finfo("float64").max] = np.nan
        return distances

    def pagerank(self):
        made = self.nk.centrality.PageRank(self.g, ALPHA, 0)
        made.maxIterations = ITERATIONS
        return made.run().scores()

    def label_propagation(self):
        made = self.nk.community.PLP(self.g, maxIterations=ITERATIONS).run()
        return made.getPartition().getVector()


class Graphframes:
    """GraphFrames on Spark in one process. Of two implementations, the one on data frames can spill."""

    package = "graphframes-py"

    def __init__(self, options):
        from pyspark.sql import SparkSession

        settings = {
            "spark.driver.memory": f"{int(options['limit'] * HEAP) >> 20}m",
            "spark.jars": options["jar"],
            "spark.local.dir": options["folder"],
            "spark.sql.shuffle.partitions": 64,  # as many as tasks in this memory need, not 200
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.master(f"local[{options['threads']}]")
        self.session, self.options = builder.config(map=settings).getOrCreate(), options
        self.session.sparkContext.setCheckpointDir(options["folder"])

    def build(self):
        from graphframes import GraphFrame
        from pyspark.sql.functions import col

        edges = self.session.read.parquet(*self.options["files"])
        source, target = edges.columns[:2]
        edges = edges.select(col(source).alias("src"), col(target).alias("dst"))
        ends = edges.select(col("src").alias("id")).union(edges.select("dst"))
        self.g = GraphFrame(ends.distinct(), edges)

    def connected_components(self):
        # -1 leaves skewed joins to Spark; GraphFrames' documentation calls this 5 times as fast.
        return self.g.connectedComponents(broadcastThreshold=-1).select("id", "component")

    def bfs(self):
        from pyspark.sql.functions import element_at

        found = self.g.shortestPaths([0], algorithm="graphframes", is_directed=False)
        return found.select("id", element_at("distances", 0))

    def pagerank(self):
        edges = self.g.edges
        both = edges.union(edges.select("dst", "src"))
        found = type(self.g)(self.g.vertices, both).pageRank(1 - ALPHA, maxIter=ITERATIONS)
        return found.vertices.select("id", "pagerank")

    def label_propagation(self):
        return self.g.labelPropagation(ITERATIONS, "graphframes").select("id", "label")

    def write(self, found):
        """Write the answer, which Spark computes now."""
        found.toDF("vertex", "value").write.parquet(self.options["result"])


LIBRARIES = {"graphframes": Graphframes, "scipy": Scipy, "networkit": Networkit}


def main(library, call, options):
    """Answer; print the seconds and the library's version."""
    made = LIBRARIES[library](json.loads(options))
    began = time.perf_counter()
    made.build()
    made.write(getattr(made, call)())
    print(json.dumps({"seconds": time.perf_counter() - began, "version": version(made.package)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
