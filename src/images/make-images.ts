import { AppError } from '../errors.js';
import type { OutputFormat } from './formats.js';
import type { ImageFiles } from './image-files.js';
import { onceAtATime } from './in-turn.js';
import type { InTurn } from './in-turn.js';
import type { Handout, LinkStore } from './link-store.js';
import type { ImageMetadata, MetadataStore } from './metadata.js';
import { makeImage, weightOf } from './pipeline.js';
import type { Recipe } from './recipe.js';
import { requireUnchanged } from './source.js';
import type { ImageSource } from './source.js';

/** Finds a file of the site that holds these bytes, and is called so, if one does. */
export type FindSource = (contentDigest: string, base?: string) => ImageSource | undefined;

export interface MakeParts {
  readonly pool: InTurn;
  readonly metadata: MetadataStore;
  readonly files: ImageFiles;
  readonly links: LinkStore;
  readonly findSource: FindSource;
}

/**
 * Makes the file behind a link, unless it is there; once for all who ask at the same time.
 *
 * @throws AppError `not_found` for a link that was never handed out, or whose
 * picture has gone; `unprocessable` for a picture that can't be read.
 */
export type MakeFile = (link: Handout & { readonly format?: OutputFormat }) => Promise<void>;

export function createMakeFile(parts: MakeParts): MakeFile {
  const { files, links, findSource } = parts;
  const once = onceAtATime<boolean>();
  return async (link) => {
    const recipe = links.findRecipe(link);
    if (recipe === undefined || (link.format !== undefined && link.format !== recipe.format)) {
      throw new AppError('not_found', 'Expected the link of an image that an answer told; this one is none.');
    }
    const file = { ...link, format: recipe.format };
    await once(files.pathOf(file), async () => {
      if (await files.has(file)) return false;
      const source = findSource(link.contentDigest);
      if (source === undefined) throw new AppError('not_found', 'Expected a picture of the site; it has gone since.');
      const header = await parts.metadata.read(source);
      await files.write(file, await makeOne(parts, { source, header, recipe }));
      return true;
    });
  };
}

export interface Making {
  readonly source: ImageSource;
  readonly header: ImageMetadata;
  readonly recipe: Recipe;
}

/** Makes an image when there is room in the pool, of a file that is as it was indexed. */
export function makeOne({ pool }: Pick<MakeParts, 'pool'>, { source, header, recipe }: Making): Promise<Buffer> {
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
