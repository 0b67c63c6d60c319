/** Writes operations by the rows of table.ts: four lanes at once, or the one value that all lanes share. */

import { isHalf, ops, type OpName, type ScalarType } from "@evolver/kernel";
import { refuseType, rowOf } from "../lookup.ts";
import { roundTo } from "./half.ts";
import { BY_LANES, NONE, type LaneCell, type OperationSite } from "./operation.ts";
import { representations, splat, unsplat } from "./representation.ts";
import { operations } from "./table.ts";

/** Pushes four lanes of the result. */
export function emitLanes(op: OpName, site: OperationSite): void {
  const { lanes, half } = rowOf(operations, op, "operation");
  const type = firstType(site);
  const write = (cell: LaneCell): void => {
    if (cell === NONE) return refuseType(`operation ${op}`, type);
    if (typeof cell === "function") return cell(site);
    site.operands.types.forEach((_, i) => site.operands.lanes(i));
    site.f.op(cell);
  };
  if (!isHalf(type)) return write(lanes[representations[type].lane]);
  if (half === NONE || typeof half === "function") return write(half);
  write(lanes.f32);
  if (half === "rounded") site.f.call(roundTo(site.helpers, type));
}

/** Pushes the result for operands that are all uniform, or the base of affine ones. */
export function emitScalar(op: OpName, site: OperationSite): void {
  const { scalar, half } = rowOf(operations, op, "operation");
  const type = firstType(site);
  // Numbers of two bytes are rounded in lanes.
  const cell = isHalf(type) && half !== "exact" ? BY_LANES : scalar[representations[type].lane];
  if (cell === NONE) return refuseType(`operation ${op}`, type);
  if (cell === BY_LANES) return emitByLanes(op, site);
  if (typeof cell === "function") return cell(site);
  site.operands.types.forEach((_, i) => site.operands.scalar(i));
  site.f.op(cell);
}

/** A scalar operation done on four equal lanes. */
function emitByLanes(op: OpName, site: OperationSite): void {
  const { f, operands } = site;
  const { types } = operands;
  emitLanes(op, {
    ...site,
    operands: {
      ...operands,
      isScalar: () => false,
      lanes: (i) => {
        operands.scalar(i);
        splat(f, types[i] as ScalarType);
      },
    },
  });
  const result = ops[op].signature(types);
  if (result === null) return refuseType(`operation ${op}`, types.join(", "));
  unsplat(f, result);
}

function firstType({ operands }: OperationSite): ScalarType {
  return operands.types[0] as ScalarType;
}
