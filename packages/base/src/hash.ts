/** SHA-256 that is synchronous and runs in browsers too: Web Crypto is asynchronous, and Node's crypto is not in browsers. */

import { sha256 as digest } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Of text (as UTF-8) or bytes: 64 hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  return bytesToHex(sha256Bytes(data));
}

/** The same as 32 bytes. */
export function sha256Bytes(data: string | Uint8Array): Uint8Array {
  return digest(typeof data === "string" ? utf8ToBytes(data) : data);
}
