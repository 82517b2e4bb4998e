"""How those who are measured take turns."""
import time

# Threads of a pool go on looking for work after a run, ONNX Runtime's for 50 ms: who came next would share a processor with them.
REST_SECONDS = 0.1


def take_turns(turns, threads, measures):
    """Calls each of `measures`, one after the other, `turns` times; with several threads, each on a machine at rest."""
    for _ in range(turns):
        for measure in measures:
            if threads > 1:
                time.sleep(REST_SECONDS)
            measure()
