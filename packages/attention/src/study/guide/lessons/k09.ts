import type { Lesson } from "@evolver/guide";

export const k09: Lesson = {
  slow: `With grouped queries k06 reads each key head once per query head. With a single query, seven of the eight rows of its tile do not exist.`,
  folklore: `"Grouped queries need no kernel of their own: take head h div group and be done"; K and V are read less because
there are fewer of them.`,
  questions: [
    {
      question: "Which key head does query head h read, and what is the classic mistake?",
      answer: `h div (query heads / key heads): neighbouring query heads share one. One mistake is h mod key heads, which is right
for a single key head and looks plausible elsewhere. The other is to repeat K and V in memory, which gives the right
result but reads them from as many places as there are query heads.`,
    },
    {
      question:
        "Decoding has one query. Why does indexing by head read K and V four times for a group of four?",
      answer: `Every tile of queries reads all of K and V for its rows, and by index a tile belongs to one query head. One query and
four heads are four tiles with one row each. Caches may serve three of the four, but each tile still requests them, and also
computes seven rows that do not exist.`,
    },
    {
      question:
        "Row 5 of a packed tile, group of 4, first tile: which query, which head? Why query by query?",
      answer: `Query 5 div 4 = 1, head 5 mod 4 = 1 of the group. Query by query, so that a tile covers few positions: its eight rows
are two neighbouring positions, and under a causal mask nearly all keys that the tile looks at are seen by all of its rows.`,
    },
    {
      question: "When does packing save nothing?",
      answer: `When each head has enough queries to fill its tiles. 64 queries of four heads are 256 rows, 32 tiles of eight, packed
or not, and each tile reads K and V once. It pays for decoding, and for short or ragged queries.`,
    },
    {
      question: "What does packing cost?",
      answer: `Integer operations: a division by the group's size, with remainder, for each row that is loaded, masked and stored.
Neighbouring rows of neighbouring heads are a head's stride apart in memory, so that queries and outputs are read and written
in pieces of one row. Both costs are small beside those of the keys.`,
    },
    {
      question: "Does the tile have to hold a whole number of groups?",
      answer: `No. With a group of 3, eight rows are two queries with all their heads and two heads of a third; the next tile
continues. Each row knows its own query and head, and the range of keys comes from the first and the last query of the tile.`,
    },
  ],
};
