import { AppError } from '../errors.js';
import type { OutputFormat } from './formats.js';
import type { ImageFiles } from './image-files.js';
import { onceAtATime } from '../in-turn.js';
import type { InTurn } from '../in-turn.js';
import type { Handout, LinkStore } from './link-store.js';
import type { MetadataStore } from './metadata.js';
import { makeImage, weightOf } from './pipeline.js';
import type { Measured } from './pipeline.js';
import type { Recipe } from './recipe.js';
import { requireUnchanged } from './source.js';
import type { ImageSource } from './source.js';
import type { TrimStore } from './trims.js';

/** Finds a file of the site that holds these bytes, and is called so, if one does. */
export type FindSource = (contentDigest: string, base?: string) => ImageSource | undefined;

/** What it takes to make an image of a picture. */
export interface Workshop {
  readonly pool: InTurn;
  readonly metadata: MetadataStore;
  readonly trims: TrimStore;
}

export interface MakeParts extends Workshop {
  readonly files: ImageFiles;
  readonly links: LinkStore;
  readonly findSource: FindSource;
}

/**
 * Makes the file behind a link, unless it is there; once for all who ask at the same time. Tells whether it was made.
 *
 * @throws AppError `not_found` for a link that was never handed out, or whose
 * picture has gone; `unprocessable` for a picture that can't be read.
 */
export type MakeFile = (link: Handout & { readonly format?: OutputFormat }) => Promise<boolean>;

export function createMakeFile(parts: MakeParts): MakeFile {
  const { files, links, findSource } = parts;
  const once = onceAtATime<boolean>();
  return async (link) => {
    const recipe = links.findRecipe(link);
    if (recipe === undefined || (link.format !== undefined && link.format !== recipe.format)) {
      throw new AppError('not_found', 'Expected the link of an image that an answer told; this one is none.');
    }
    const file = { ...link, format: recipe.format };
    return once(files.pathOf(file), async () => {
      if (await files.has(file)) return false;
      const source = findSource(link.contentDigest);
      if (source === undefined) throw new AppError('not_found', 'Expected a picture of the site; it has gone since.');
      const header = await measure(parts, source, recipe);
      await files.write(file, await makeOne(parts, { source, header, recipe }));
      return true;
    });
  };
}

/** Reads the header, and finds the borders if the recipe takes them off. */
export async function measure({ metadata, trims }: Workshop, source: ImageSource, { trim }: Recipe): Promise<Measured> {
  const header = await metadata.read(source);
  return trim === undefined ? header : { ...header, trimmed: await trims.measure(source, header, trim) };
}

export interface Making {
  readonly source: ImageSource;
  readonly header: Measured;
  readonly recipe: Recipe;
}

/** Makes an image when there is room in the pool, of a file that is as it was indexed. */
export function makeOne({ pool }: Pick<Workshop, 'pool'>, { source, header, recipe }: Making): Promise<Buffer> {
  return pool(
    async () => {
      await requireUnchanged(source);
      const bytes = await makeImage(source, header, recipe);
      await requireUnchanged(source);
      return bytes;
    },
    weightOf(header, recipe),
  );
}
