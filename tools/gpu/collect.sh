# Measuring on a GPU machine, from the host archive. From the repository's root, with OUT the folder for the results:
#   EVOLVER_COMMIT=4763160 bash tools/gpu/collect.sh [options of evolver evidence collect]
# Leaves $OUT/h200.tar. `evolver evidence collect --help` lists what there is to measure.
: "${EVOLVER_COMMIT:?the commit that is measured, which this machine has no git to ask for}"
export EVOLVER_COMMIT
. tools/gpu/setup.sh
cd /tmp/evolver-host || exit 2
evolver evidence collect -o "$OUT/h200" "$@"
tar -C "$OUT" -cf "$OUT/h200.tar" h200 && rm -r "$OUT/h200"
