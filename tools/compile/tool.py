# SPDX-License-Identifier: MIT
"""What the compilers share: results, and programs that may be missing, crash or hang."""
import shutil
import subprocess

SECONDS = 120


class Missing(Exception):
    """A compiler, or something it needs, is not here."""


def run(arguments, **options):
    try:
        return subprocess.run([str(one) for one in arguments], capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, check=False, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 1, "", f"no end within {SECONDS} s")
    except OSError as error:
        return subprocess.CompletedProcess(arguments, 127, "", str(error))


def find(*names):
    for name in names:
        if shutil.which(name):
            return name
    raise Missing(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not in the path")


def complaint(done):
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [f"exit status {done.returncode}"])[0][:300]


def result(compiler, target, kernel, facts, error=""):
    """A kernel that was compiled, by what its machine code says."""
    one = {"name": f"{compiler} {target}: {kernel}", "compiler": compiler, "target": target, "kernel": kernel, **facts}
    if not error and facts.get("fused"):
        error = f"{facts['fused']} instructions multiply and add at once"
    if not error and facts.get("mixed"):
        error = f"{facts['mixed']} instructions are of mixed precision"
    one["verdict"] = "failed" if error else "compiled"
    if error:
        one["text"] = error
    return one


def control(compiler, target, what, is_caught, text=""):
    one = {"name": f"control: {compiler} {target}: {what}", "verdict": "passed" if is_caught else "failed"}
    if not is_caught:
        one["text"] = text or "was not noticed"
    return one
