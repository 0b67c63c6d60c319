/** What every kernel keeps to, whatever it runs on. A device or target may give less; see DeviceLimits and emitTargets. */

/** The widths that subgroups can have: powers of two. */
export const SUBGROUP_SIZES: readonly number[] = Object.freeze([4, 8, 16, 32, 64, 128]);

/** The widest subgroup that a kernel can be built for, in invocations. */
export const MAX_SUBGROUP_SIZE = 128;

/** Of a workgroup. */
export const MAX_INVOCATIONS = 1024;
