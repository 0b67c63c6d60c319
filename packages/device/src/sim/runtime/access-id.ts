/**
 * Who accessed an element and where in the kernel, as one number: site · SITE_STRIDE + the invocation's index in its
 * workgroup. A site is the number of a place in the kernel (GeneratedCode.sites). Copies that a phase barrier lands have
 * an actor of their own instead of an invocation (happens-before.ts), with numbers above those of the invocations.
 */

/** More than any number of an actor: a power of two. */
export const SITE_STRIDE = 2048;

export const siteOf = (accessId: number): number => Math.floor(accessId / SITE_STRIDE);

/** The invocation, or another actor. */
export const actorOf = (accessId: number): number => accessId & (SITE_STRIDE - 1);
