/**
 * Positions are the creation order of records. They leave room, so that a file
 * that appears later is put between its neighbours without moving them.
 *
 * Between two entries of a fresh folder lie 2^24 numbers: 24 files in a row can
 * be put at the same spot one by one, or 16 million at once, before the folder
 * is numbered anew. 2^20 entries at that distance end at 2^44; the 2^53 that a
 * number holds exactly leave room for 512 folders of that size.
 */
export const GAP = 2 ** 24;

/** A million files and folders: what {@link GAP} has room for, at about 400 bytes of memory each while they are read. */
export const MAX_ENTRIES = 2 ** 20 - 1;

/** No position within a source reaches it. */
export const END = 2 ** 44;

/** What {@link GAP} leaves room for. */
export const MAX_SOURCES = 512;

/** The positions of a source's records, by its place in the configuration: those of an earlier source come first. */
export function positionsOf(place: number): { readonly from: number; readonly to: number } {
  return { from: place * END, to: (place + 1) * END };
}

/**
 * Numbers the entries of a folder, given in order with the positions that they
 * have (or `undefined`): known ones stay, new ones go between them. Gives
 * `undefined` where the room is used up or the known ones are out of order:
 * then all are to be numbered anew by {@link freshPosition}.
 */
export function givePositions(known: readonly (number | undefined)[]): number[] | undefined {
  const given: number[] = [];
  for (let index = 0; index < known.length; index += 1) {
    const start = index;
    while (index < known.length && known[index] === undefined) index += 1;
    const count = index - start;
    const before = given.at(-1) ?? 0;
    // At the end there is no neighbour to stay below, so new entries keep the usual distance.
    const after = known[index] ?? before + (count + 1) * GAP;
    const step = Math.floor((after - before) / (count + 1));
    if (step < 1 || after > END) return undefined;
    for (let place = 1; place <= count; place += 1) given.push(before + place * step);
    if (index < known.length) given.push(after);
  }
  return given;
}

export function freshPosition(index: number): number {
  return (index + 1) * GAP;
}
