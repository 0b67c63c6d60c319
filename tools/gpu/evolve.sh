# Evolving for real on a GPU machine, from the host archive. From the repository's root, with OUT the folder for the results:
#   EVOLVER_COMMIT=4763160 bash tools/gpu/evolve.sh NAME DEVICE SHAPE SECONDS [further options of evolver evolve]
# Leaves $OUT/h200/evolve-NAME.json, and in evolve-NAME.tar the workspace: records, log, champion, git history.
: "${EVOLVER_COMMIT:?the commit that is measured, which this machine has no git to ask for}"
export EVOLVER_COMMIT
name=$1 device=$2 shape=$3 seconds=$4
shift 4
workspace=/tmp/evolve-$name
mkdir -p "$OUT/h200"
# Interrupted after its time it writes what is complete, and prints it.
node tools/gpu/evidence.ts "$OUT/h200/evolve-$name.json" -- timeout --foreground -s INT "$seconds" evolver evolve attention \
  --device "$device" --cycles 40 --trials 2 --shape "$shape" --workspace "$workspace" --json "$@" || echo "evolve-$name FAILED"
tar -C /tmp -cf "$OUT/evolve-$name.tar" "evolve-$name"
