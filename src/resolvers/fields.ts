import { AppError } from '@trellis/core/errors';
import type { FieldArguments, FieldName } from '@trellis/images/plan/field-results';
import type { ImageSource } from '@trellis/images/source';
import type { ImageProcRecord } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import type { SiteContext } from './context.js';

export const siteResolvers: SiteResolvers['Site'] = {
  /** The time of the last scan, which wrote it as a field of the `SiteBuildMetadata` record. */
  buildTime: (_site, _args, { records }) => {
    const build = records.find('SiteBuildMetadata', {}, BUILD_TIME);
    return (build?.buildTime ?? null) as string | null;
  },
};

const BUILD_TIME = {
  values: [{ kind: 'column', name: 'buildTime', column: 'buildTime', holds: 'value' }],
  relations: [],
} as const;

export const fileResolvers: SiteResolvers['File'] = {
  publicURL: ({ base, 'internal.contentDigest': contentDigest }, _args, { publicFiles }) =>
    publicFiles.linkTo({ base, contentDigest }),
};

/** Filters compare the path without the signature, which is different each time. */
export const fileValues: SiteResolvers['File'] = {
  publicURL: ({ base, 'internal.contentDigest': contentDigest }, _args, { publicFiles }) =>
    publicFiles.pathOf({ base, contentDigest }),
};

type Resolvers = SiteResolvers['ImageProc'];

const fixed: Resolvers['fixed'] = (image, args, context) => derive('fixed', image, args, context);

const fluid: Resolvers['fluid'] = (image, args, context) => derive('fluid', image, args, context);

export const imageProcResolvers: Resolvers = {
  fixed,
  fluid,
  original: (image, _args, context) => resolveWithSource(image, context, (source) => context.images.original(source)),
  resize: (image, args, context) => derive('resize', image, args, context),
  resolutions: fixed as Resolvers['resolutions'],
  sizes: fluid as Resolvers['sizes'],
};

function derive<Field extends FieldName>(
  field: Field,
  image: Pick<ImageProcRecord, 'parent'>,
  args: FieldArguments[Field],
  context: SiteContext,
): never {
  context.imagePolicy.assertAllowed(field, args);
  return resolveWithSource(image, context, (source) => context.images.answer(field, source, args));
}

/**
 * Resolves a field with the source of an image, or to null if its file was deleted. Known sources are resolved
 * synchronously, which makes lists of images several times as fast.
 *
 * The return type is `never` because members that need pixels are functions, which graphql-js calls when they are
 * selected, while the generated types declare plain values.
 */
function resolveWithSource(
  { parent }: Pick<ImageProcRecord, 'parent'>,
  context: SiteContext,
  resolve: (source: ImageSource) => object | Promise<object>,
): never {
  if (parent === null) return null as never;
  const known = context.pictures.known(parent);
  if (known) return resolve(known) as never;
  return context.loadImageSource(parent).then((source) => (source ? resolve(source) : null)) as never;
}

/** Filters use the values of images that need no pixels. */
export const imageProcValues: Readonly<Record<keyof Resolvers, ImageValue>> = {
  fixed: peek('fixed'),
  fluid: peek('fluid'),
  original: peek('original'),
  resize: peek('resize'),
  resolutions: peek('fixed'),
  sizes: peek('fluid'),
};

type ImageValue = (image: Pick<ImageProcRecord, 'parent'>, args: object, context: SiteContext) => Promise<unknown>;

/** Reads the header of an image, then its values. An unreadable image has no values. */
function peek(field: Parameters<SiteContext['images']['peek']>[0]): ImageValue {
  return async ({ parent }, _args, { images, loadImageSource }) => {
    const source = parent === null ? undefined : await loadImageSource(parent);
    if (!source) return undefined;
    try {
      await images.original(source);
      return images.peek(field, source);
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  };
}
