import type { FieldArguments, FieldName } from '@trellis/images/plan/field-results';
import type { ImageSource } from '@trellis/images/source';
import type { ImageProcRecord } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import { findBuildTime, type SiteContext } from './context.js';

export const siteResolvers: SiteResolvers['Site'] = {
  buildTime: (_site, _args, { records }) => findBuildTime(records),
};

export const fileResolvers: SiteResolvers['File'] = {
  publicURL: ({ base, 'internal.contentDigest': contentDigest }, _args, { publicFiles }) =>
    publicFiles.linkTo({ base, contentDigest }),
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
