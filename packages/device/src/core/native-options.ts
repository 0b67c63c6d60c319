/** Options of the devices behind a vendor's driver. */

export interface NativeOptions {
  /** Which of several GPUs, as the driver counts them; the first if absent. */
  readonly ordinal?: number;
}
