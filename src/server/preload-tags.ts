/** The manifest entry of a page module, or of a file that pages share. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

/** The bundler's `manifest.json`. */
export type Manifest = Readonly<Record<string, Chunk>>;

/** The entry that every page loads. */
const ENTRY = 'index.html';

/**
 * Returns the tags that preload the files of a page, except those that every page loads. Without them, scripts would
 * request their imports one after the other.
 *
 * @param base The base URL of the files, such as `/pages/`.
 */
export function listPreloadTags(manifest: Manifest, module: string, base: string): string {
  const common = collect(manifest, ENTRY, new Set());
  const chunks = [...collect(manifest, module, common)].slice(common.size).map((name) => manifest[name]);
  const styles = new Set(chunks.flatMap((chunk) => chunk?.css ?? []));
  const scripts = chunks.map((chunk) => chunk?.file ?? '');
  return [
    ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="${base}${file}">`),
    ...[...styles].map((file) => `<link rel="stylesheet" crossorigin href="${base}${file}">`),
  ].join('');
}

/** Returns the known modules, followed by a module with its transitive imports. */
function collect(manifest: Manifest, module: string, known: ReadonlySet<string>): ReadonlySet<string> {
  if (known.has(module) || manifest[module] === undefined) return known;
  let all: ReadonlySet<string> = new Set([...known, module]);
  for (const name of manifest[module].imports ?? []) all = collect(manifest, name, all);
  return all;
}
