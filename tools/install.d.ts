/**
 * Installs the packages of a folder unless they are installed already.
 *
 * @param folder relative to the repository
 * @throws Error with a hint, because a check without its program must not look complete.
 */
export function installTool(folder: string): void;

/** Installs the packages of a folder, and imports one of them. */
export function importFromTool(folder: string, name: string): Promise<unknown>;
