/** Options of the devices behind a vendor's driver. */

/** What `openDevice("cuda", …)` and `openDevice("hip", …)` take. */
export interface NativeOptions {
  /** Which of several GPUs, as the driver counts them; the first if absent. */
  readonly ordinal?: number;
}
