import { AppError } from '@trellis/core/errors';
import type { FieldArguments, FieldResult } from '@trellis/images/plan/field-results';
import { createMarkdownLinks, type MarkdownPicture, type MarkdownTargets } from '@trellis/site/markdown/links';
import { openMarkdownRenderer } from '@trellis/site/markdown/markdown-renderer';
import type { ReadableSite } from '@trellis/site/site';
import type { ImageService, MarkdownService } from './service.js';

interface MarkdownOptions {
  readonly imaging: Pick<ImageService, 'images' | 'pictures' | 'publicFiles'>;
  /** The site's folder. */
  readonly directory: string;
  /** The folder of stored renderings, or `undefined` to keep them in memory. */
  readonly cacheDirectory: string | undefined;
  /** Receives one line for each link in a text that leads to no file. */
  readonly warn: (line: string) => void;
}

/** Opens the renderer of a site. It loads the libraries and starts its thread with the first text. */
export function openMarkdown(
  { store, config: { markdown } }: Pick<ReadableSite, 'config' | 'store'>,
  { imaging, directory, cacheDirectory, warn }: MarkdownOptions,
): MarkdownService {
  const targets = createTargets(imaging, { maxWidth: markdown.imageWidth });
  return {
    ...openMarkdownRenderer({ ...markdown, directory: cacheDirectory }),
    ...createMarkdownLinks({ records: store, targets, directory, warn }),
  };
}

/** The formats that browsers show best in several widths. A GIF may be animated, and an SVG has every width. */
const SCALED = /^\.(?:avif|jpe?g|png|tiff?|webp)$/iu;

function createTargets(
  { images, pictures, publicFiles }: MarkdownOptions['imaging'],
  args: FieldArguments['fluid'],
): MarkdownTargets {
  return {
    linkTo: (file) => publicFiles.linkTo(file),
    async findPicture(id) {
      const source = pictures.known(id) ?? pictures.findAll([id]).get(id);
      if (!source || !SCALED.test(source.ext)) return undefined;
      try {
        return toPicture(await images.answer('fluid', source, args));
      } catch (error) {
        // The content differs from the name.
        if (error instanceof AppError) return undefined;
        throw error;
      }
    },
  };
}

const toPicture = ({ src, srcSet, sizes, srcSetWebp, ...size }: FieldResult<'fluid'>): MarkdownPicture => ({
  ...{ src, srcSet, sizes },
  width: size.presentationWidth,
  height: size.presentationHeight,
  srcSetWebp: srcSetWebp() ?? undefined,
});
