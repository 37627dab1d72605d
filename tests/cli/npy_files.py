# SPDX-License-Identifier: MIT
"""Good and bad .npy files: versions, headers, sizes, types, and what is said of each."""
import os
import struct

import numpy as np

SHAPE = (1, 4, 2, 8)
GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 2, 8), }"
DATA = np.arange(64, dtype=np.float32).tobytes()


def npy(header, data=DATA, version=1, length=None, minor=0):
    text = header.encode("latin-1") + b"\n"
    length = len(text) if length is None else length
    return b"\x93NUMPY" + struct.pack("<BB", version, minor) + struct.pack("<H" if version == 1 else "<I", length) \
        + text + data


def edited(old, new):
    assert old in GOOD
    return npy(GOOD.replace(old, new))


ACCEPTED = {
    "version 1": npy(GOOD),
    "version 2": npy(GOOD, version=2),
    "version 3": npy(GOOD, version=3),
    "other order of keys": npy("{'shape': (1, 4, 2, 8), 'fortran_order': False, 'descr': '<f4'}"),
    "double quotes": npy(GOOD.replace("'", '"')),
    "lengths of Python 2": npy(GOOD.replace("4, 2, 8", "4L, 2L, 8L")),
    "spaces": npy("  {  'descr' :'<f4' , 'fortran_order':False,'shape':( 1,4,2,8 ,)}   "),
}

REFUSED = {
    "empty file": (b"", "NPY_ERROR_TRUNCATED"),
    "ends in the magic": (b"\x93NUM", "NPY_ERROR_TRUNCATED"),
    "ends before the length": (npy(GOOD)[:9], "NPY_ERROR_TRUNCATED"),
    "ends in the header": (npy(GOOD)[:40], "NPY_ERROR_TRUNCATED"),
    "header said longer than the file": (npy(GOOD, length=60000), "NPY_ERROR_TRUNCATED"),
    "header too long": (npy(GOOD, version=2, length=0xffffffff), "NPY_ERROR_HUGE", "4294967295", "65535"),
    "no data": (npy(GOOD, b""), "NPY_ERROR_TRUNCATED", "256 bytes", "has 0"),
    "one byte short": (npy(GOOD, DATA[:-1]), "NPY_ERROR_TRUNCATED", "256 bytes", "has 255"),
    "one byte more": (npy(GOOD, DATA + b"x"), "NPY_ERROR_TRAILING", "256 bytes", "257"),
    "another format": (b"PK\x03\x04" + bytes(400), "NPY_ERROR_MAGIC"),
    "version 0": (npy(GOOD, version=0), "NPY_ERROR_VERSION", "0.0"),
    "version 4": (npy(GOOD, version=4), "NPY_ERROR_VERSION", "4.0"),
    "version 1.1": (npy(GOOD, minor=1), "NPY_ERROR_VERSION", "1.1"),
    "huge, and there is little of it": (edited("4, 2", "4000000000, 2"), "NPY_ERROR_TRUNCATED", "256000000000 bytes"),
    "bytes overflow": (edited("4, 2", "4611686018427387904, 2"), "NPY_ERROR_HUGE", "9223372036854775807"),
    "product overflows to zero": (edited("4, 2", "4294967296, 4294967296"), "NPY_ERROR_HUGE"),
    "overflow beside a zero": (edited("4, 2", "0, 4294967296, 4294967296"), "NPY_ERROR_HUGE"),
    "length overflows": (edited("4, 2", "18446744073709551617, 2"), "NPY_ERROR_HUGE", "shape[1]"),
    "big-endian": (edited("<f4", ">f4"), "NPY_ERROR_BIG_ENDIAN", "'>f4'", "'<f4'"),
    "big-endian halves": (edited("<f4", ">f2"), "NPY_ERROR_BIG_ENDIAN", "'>f2'"),
    "Fortran order": (edited("False", "True"), "NPY_ERROR_FORTRAN", "fortran_order", "True", "False"),
    "objects": (edited("<f4", "|O"), "NPY_ERROR_OBJECT", "'|O'"),
    "objects in 8 bytes": (edited("<f4", "|O8"), "NPY_ERROR_OBJECT", "'|O8'"),
    "double": (edited("<f4", "<f8"), "NPY_ERROR_TYPE", "'<f8'", "'<f4' or '<f2'"),
    "complex": (edited("<f4", "<c8"), "NPY_ERROR_TYPE", "'<c8'"),
    "integers": (edited("<f4", "<i4"), "NPY_ERROR_TYPE", "'<i4'"),
    "native order unsaid": (edited("<f4", "=f4"), "NPY_ERROR_TYPE", "'=f4'"),
    "structure": (edited("'<f4'", "[('x', '<f4')]"), "NPY_ERROR_TYPE", "list of fields"),
    "long type": (edited("<f4", "<" + "f" * 300), "NPY_ERROR_TYPE"),
    "nine dimensions": (edited("1, 4", "1, 1, 1, 1, 1, 1, 4"), "NPY_ERROR_DIMS", "8"),
    "negative length": (edited("4, 2", "-4, 2"), "NPY_ERROR_HEADER", "-4"),
    "fractional length": (edited("4, 2", "4.5, 2"), "NPY_ERROR_HEADER", ".5"),
    "empty header": (npy(""), "NPY_ERROR_HEADER"),
    "no dictionary": (npy("[1, 2]"), "NPY_ERROR_HEADER", "[1, 2]"),
    "dictionary not closed": (npy(GOOD[:-1]), "NPY_ERROR_HEADER"),
    "shape not closed": (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4"), "NPY_ERROR_HEADER"),
    "quote not closed": (npy("{'descr': '<f4, "), "NPY_ERROR_HEADER"),
    "key twice": (edited("'fortran_order': False", "'descr': '<f4'"), "NPY_ERROR_HEADER", "each once"),
    "unknown key": (edited("fortran_order", "fortran_odrer"), "NPY_ERROR_HEADER", "fortran_odrer"),
    "no shape": (npy("{'descr': '<f4', 'fortran_order': False}"), "NPY_ERROR_HEADER", "'shape' is missing"),
    "no order": (npy("{'descr': '<f4', 'shape': (1, 4, 2, 8)}"), "NPY_ERROR_HEADER", "'fortran_order' is missing"),
    "order is a number": (edited("False", "0"), "NPY_ERROR_HEADER", "True or False"),
    "something after the dictionary": (npy(GOOD + " import os"), "NPY_ERROR_HEADER", "import os"),
    "code in the place of a value": (edited("False", "exit(0)"), "NPY_ERROR_HEADER", "exit(0)"),
}

APPLY = ["apply", "--q", "q.npy", "--grid", "2x2", "--base", "10000", "--device", "cpu"]


def check_accepted(runner):
    for name, content in ACCEPTED.items():
        runner.path("q.npy").write_bytes(content)
        runner.expect(f".npy {name}", APPLY, 0)
        out = np.load(runner.path("q_rotated.npy"))
        same = out.shape == SHAPE and out[0, 0].tobytes() == DATA[:64] and not np.isnan(out).any()
        runner.check(f".npy {name}: the token at (0, 0) stays", same, str(out[0, 0]))
        runner.path("q_rotated.npy").unlink()


def check_refused(runner):
    for name, (content, status, *texts) in REFUSED.items():
        runner.path("q.npy").write_bytes(content)
        before = runner.names()
        runner.expect(f".npy {name}", APPLY, 2, "--q q.npy", status, *texts)
        runner.check(f".npy {name}: writes nothing", runner.names() == before, str(runner.names()))


def check_not_files(runner):
    runner.path("q.npy").unlink()
    runner.expect(".npy missing", APPLY, 2, "--q q.npy", "No such file", "NPY_ERROR_OPEN")
    runner.path("q.npy").mkdir()
    runner.expect(".npy is a folder", APPLY, 2, "--q q.npy", "NPY_ERROR")
    runner.path("q.npy").rmdir()
    runner.expect(".npy without end", ["apply", "--q", "/dev/zero", *APPLY[3:]], 2, "NPY_ERROR_OPEN", "is not a regular file")
    for option, rest in (("--q", APPLY[3:]), ("--positions", ["--q", "ones.npy", "--base", "10000", "--device", "cpu"]),
                         ("--freqs", ["--q", "ones.npy", "--grid", "2x2", "--device", "cpu"])):
        np.save(runner.path("ones.npy"), np.ones(SHAPE, np.float32))
        os.mkfifo(runner.path("pipe.npy"))
        runner.expect(f"{option} is a pipe that nobody writes to", ["apply", option, "pipe.npy", *rest], 2,
                      f"{option} pipe.npy: is not a regular file", "NPY_ERROR_OPEN", limit=20)
        runner.path("pipe.npy").unlink()


def check_other_places(runner):
    """Positions and frequencies are read with the same care."""
    np.save(runner.path("q.npy"), np.ones(SHAPE, np.float32))
    for option, rest in (("--positions", ["--base", "10000"]), ("--freqs", ["--grid", "2x2"])):
        command = ["apply", "--q", "q.npy", option, "bad.npy", *rest, "--device", "cpu"]
        for array, status in ((np.zeros((4, 2), np.float64), "NPY_ERROR_TYPE"),
                              (np.asfortranarray(np.ones((4, 2), np.float32)), "NPY_ERROR_FORTRAN"),
                              (np.zeros((4, 2), ">f4"), "NPY_ERROR_BIG_ENDIAN"),
                              (np.array([[None]]), "NPY_ERROR_OBJECT")):
            np.save(runner.path("bad.npy"), array)
            before = runner.names()
            runner.expect(f"{option} {status}", command, 2, f"{option} bad.npy", status)
            runner.check(f"{option} {status}: writes nothing", runner.names() == before, str(runner.names()))


def test(runner):
    check_accepted(runner)
    check_refused(runner)
    check_not_files(runner)
    check_other_places(runner)
