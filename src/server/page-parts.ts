/** What the bundler wrote down of a module that is a page, or of a file that pages share. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

/** The bundler's `manifest.json`. */
export type Manifest = Readonly<Record<string, Chunk>>;

/** What every page is loaded with. */
const ENTRY = 'index.html';

/**
 * Gives the tags with which a document says, ahead of the scripts that would ask for them one after the other, which
 * files a page needs besides those of every page.
 *
 * @param base Where the files are, such as `/pages/`.
 */
export function listPageParts(manifest: Manifest, module: string, base: string): string {
  const common = collect(manifest, ENTRY, new Set());
  const chunks = [...collect(manifest, module, common)].slice(common.size).map((name) => manifest[name]);
  const styles = new Set(chunks.flatMap((chunk) => chunk?.css ?? []));
  const scripts = chunks.map((chunk) => chunk?.file ?? '');
  return [
    ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="${base}${file}">`),
    ...[...styles].map((file) => `<link rel="stylesheet" crossorigin href="${base}${file}">`),
  ].join('');
}

/** What is known already, and after it a module with whatever it imports. */
function collect(manifest: Manifest, module: string, known: ReadonlySet<string>): ReadonlySet<string> {
  if (known.has(module) || manifest[module] === undefined) return known;
  let all: ReadonlySet<string> = new Set([...known, module]);
  for (const name of manifest[module].imports ?? []) all = collect(manifest, name, all);
  return all;
}
