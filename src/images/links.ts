import { findOutputFormat } from './formats.js';
import type { OutputFormat } from './formats.js';
import { decode } from './original.js';
import { DIGEST_LENGTH } from './recipe.js';

/** Where an image is, made or not: a picture by its bytes, and a recipe by its digest. */
export interface ImageLink {
  readonly contentDigest: string;
  readonly recipeDigest: string;
  /** Of the picture, without its extension: for people, it decides nothing. */
  readonly name: string;
  /** Of the image, without a dot. */
  readonly extension: string;
}

/** The path below `/static`: `/<content digest>/<recipe digest>/<percent-encoded name>.<extension>`. */
export const formatLink = ({ contentDigest, recipeDigest, name, extension }: ImageLink): string =>
  `/${contentDigest}/${recipeDigest}/${encodeURIComponent(name)}.${extension}`;

const LINK = new RegExp(`^/([0-9a-f]{32})/([0-9a-f]{${DIGEST_LENGTH}})/([^/?]+)\\.([a-z]+)$`, 'u');

/** The inverse of {@link formatLink}; `undefined` for a path that is no link to an image. */
export function parseLink(path: string): (ImageLink & { readonly format: OutputFormat }) | undefined {
  const [, contentDigest, recipeDigest, encodedName = '', extension = ''] = LINK.exec(path) ?? [];
  const format = findOutputFormat(extension);
  const name = decode(encodedName);
  if (contentDigest === undefined || recipeDigest === undefined || format === undefined || !name) return undefined;
  return { contentDigest, recipeDigest, name, extension, format };
}
