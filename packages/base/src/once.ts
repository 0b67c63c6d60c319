/** A value that is worked out when it is first asked for. */

/** What `make` gives, which is called at most once. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
