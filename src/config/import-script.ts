import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Imports the default export of a script. TypeScript runs on all supported versions of Node, with the modules of the
 * same project that it imports; packages are imported as usual.
 */
export async function importScript<Content>(file: string): Promise<Content> {
  if (extname(file) === '.ts') {
    const { createJiti } = await import('jiti');
    return createJiti(file).import<Content>(file, { default: true });
  }
  const script = (await import(pathToFileURL(file).href)) as { readonly default: Content };
  return script.default;
}
