/** The heads axis: how query rows make up tiles, and which key head a tile reads. */

import { byIndex } from "./by-index.ts";
import { packed } from "./packed.ts";
import type { HeadMapping } from "./mapping.ts";

export const headMappings = { "by index": byIndex, packed } as const satisfies Record<string, HeadMapping>;
