/**
 * The distance between the positions of entries after a first scan. Positions define the creation order of records, and
 * the gaps let a new file be inserted between its neighbours without moving them.
 *
 * A gap of 2^24 allows 24 insertions at the same place one by one, or 16 million at once, before the source has to be
 * renumbered. 2^20 entries at this distance end at 2^44, and 2^53, up to which numbers are exact, leaves space for 512
 * sources of this size.
 */
export const POSITION_GAP = 2 ** 24;

/** The maximum number of files and folders per source, given {@link POSITION_GAP}. Each takes about 400 bytes during a scan. */
export const MAX_ENTRIES = 2 ** 20 - 1;

/** The exclusive upper bound of positions within a source. */
export const POSITIONS_PER_SOURCE = 2 ** 44;

/** The maximum number of sources, given {@link POSITION_GAP}. */
export const MAX_SOURCES = 512;

/** Returns the range of positions of a source, given its index in the configuration. */
export function getPositionRange(place: number): { readonly from: number; readonly to: number } {
  return { from: place * POSITIONS_PER_SOURCE, to: (place + 1) * POSITIONS_PER_SOURCE };
}

/**
 * Assigns positions to entries, given in order with their known positions or `undefined`. Known positions stay, and new
 * ones are spread between them. Returns `undefined` if there are too few free positions or the known ones are out of
 * order; then all entries have to be renumbered with {@link nextPosition}.
 */
export function assignPositions(known: readonly (number | undefined)[]): number[] | undefined {
  const positions: number[] = [];
  for (let index = 0; index < known.length; index += 1) {
    const start = index;
    while (index < known.length && known[index] === undefined) index += 1;
    const count = index - start;
    const before = positions.at(-1) ?? 0;
    // After the last known position, new entries keep the usual distance.
    const after = known[index] ?? before + (count + 1) * POSITION_GAP;
    const step = Math.floor((after - before) / (count + 1));
    if (step < 1 || after > POSITIONS_PER_SOURCE) return undefined;
    for (let place = 1; place <= count; place += 1) positions.push(before + place * step);
    if (index < known.length) positions.push(after);
  }
  return positions;
}

export function nextPosition(index: number): number {
  return (index + 1) * POSITION_GAP;
}
