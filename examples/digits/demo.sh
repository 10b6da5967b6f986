#!/usr/bin/env bash
# Shows handwritten digits learned: in one process, in two and three MPI processes, and as an executable. `./dev demo`
# builds Leat and runs this. It ends with a `name: value` line for each figure and fails when a promise does not hold.
set -euo pipefail
export LC_ALL=C
build=$(realpath "${LEAT_BUILD:-$(dirname "$0")/../../build}")
cd "$(dirname "$0")"
export PATH=$build:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

steps=2000
failures=()

title() { printf '\n==> %s\n' "$*"; }
run() { printf '    $ %s\n' "${*//$work\//}" >&2 && "$@"; }

# promise WORDS CONDITION…: notes the words when the condition, a command, fails.
promise() {
  local words=$1
  shift
  "$@" || failures+=("$words")
}
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }

# accuracy CHECKPOINT: percent of the held-out images that are classified right.
accuracy() {
  leat run digits.leat --entry eval --restore "$1" | awk '$1 == "accuracy:" { printf "%.2f\n", 100 * $NF }'
}

# elements FILE.npy: the values of an i32 array, one a line.
elements() {
  local header
  header=$(od -An -tu2 -j8 -N2 "$1")
  od -An -v -w4 -td4 -j$((10 + header)) "$1"
}

# bytes_sent LOG: what each rank sent as tensors a step, from the traffic that a training run reports.
bytes_sent() {
  awk -v steps="$steps" '$1 == "rank" && $3 == "tensor" { sent[$2] += $(NF - 3) * $(NF - 1) }
    END { for (rank in sent) printf "    rank %d sent %d bytes a step\n", rank, sent[rank] / steps }' "$1" | sort
}

title 'The program: one text for one process and for several'
sed -n '/^graph/,$p' digits.leat

title "Training in this process, $steps steps of 128 images, with five seeds"
accuracies=()
for seed in 1 2 3 4 5; do
  run leat train digits.leat --set seed=$seed --steps $steps --log-every 500 --save "$work/seed$seed.safetensors"
  accuracies+=("$(accuracy "$work/seed$seed.safetensors")")
  echo "    seed $seed: ${accuracies[-1]} % of the 359 images held out of training"
done
accuracy_local=$(printf '%s\n' "${accuracies[@]}" | sort -n | sed -n 3p)
promise 'accuracy_local >= 96' at_least "$accuracy_local" 96

title 'The same as two processes: a parameter server and a worker'
run leat train digits.leat --steps $steps --log-every 1 --log-bits >"$work/one"
run mpiexec -n 2 leat train digits.leat --cluster ps=1,worker=1 --steps $steps --log-every 1 --log-bits \
  --traffic --save "$work/two.safetensors" >"$work/two"
same_bits=yes
cmp <(grep '^step ' "$work/one") <(grep '^step ' "$work/two") || same_bits=no
[ "$(grep -c '^step ' "$work/two")" = $steps ] || same_bits=no
echo "    the losses of all $steps steps have the same bits: $same_bits"
bytes_sent "$work/two"
accuracy_mpi_2=$(accuracy "$work/two.safetensors")
promise 'same_bits = yes' [ $same_bits = yes ]
promise 'accuracy_mpi_2 >= 96' at_least "$accuracy_mpi_2" 96

title 'Three processes: two workers share each batch, their gradients are averaged'
run mpiexec -n 3 leat train digits.leat --cluster ps=1,worker=2 --steps $steps --log-every 500 \
  --traffic --save "$work/three.safetensors" >"$work/three"
grep -v '^rank ' "$work/three"
bytes_sent "$work/three"
accuracy_mpi_3=$(accuracy "$work/three.safetensors")
promise 'accuracy_mpi_3 >= 96' at_least "$accuracy_mpi_3" 96

title 'An executable of the trained network'
run leat build digits.leat --entry predict --vars "$work/seed1.safetensors" -o "$work/predict"
executable_bytes=$(stat -c %s "$work/predict")
ldd "$work/predict"
libraries=$(ldd "$work/predict" | awk '{ print $1 }' | grep -Ev '^(linux-vdso|libc|libm)\.so|/ld-linux' || true)
run leat run digits.leat --entry held_out -o x=@"$work/x.npy" -o label=@"$work/label.npy"
run leat run digits.leat --entry predict --restore "$work/seed1.safetensors" --feed x=@"$work/x.npy" \
  -o class=@"$work/class_run.npy"
run "$work/predict" --feed x=@"$work/x.npy" -o class=@"$work/class.npy"
accuracy_executable=$(paste <(elements "$work/class.npy") <(elements "$work/label.npy") |
  awk '{ right += $1 == $2 } END { printf "%.2f\n", 100 * right / NR }')
promise 'executable_bytes < 500000' [ "$executable_bytes" -lt 500000 ]
promise 'the executable needs libc and libm at most' [ -z "$libraries" ]
promise 'the executable predicts what leat run predicts' cmp "$work/class.npy" "$work/class_run.npy"
promise 'the executable is as accurate as the network' [ "$accuracy_executable" = "${accuracies[0]}" ]

title 'Figures'
cat <<TXT
accuracy_seeds: ${accuracies[*]}
accuracy_local: $accuracy_local
accuracy_mpi_2: $accuracy_mpi_2
same_bits: $same_bits
accuracy_mpi_3: $accuracy_mpi_3
accuracy_executable: $accuracy_executable
executable_bytes: $executable_bytes
TXT
if [ ${#failures[@]} -gt 0 ]; then
  printf 'not kept: %s\n' "${failures[@]}" >&2
  exit 1
fi
