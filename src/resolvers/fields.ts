import { AppError } from '@trellis/core/errors';
import type { FieldArguments, FieldName } from '@trellis/images/plan/field-results';
import type { ImageSource } from '@trellis/images/source';
import { isPendingDigest } from '@trellis/site/graphql/context';
import { repeatable } from '@trellis/site/graphql/repeatable';
import type { ImageProcRecord } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import type { CommonContext, SiteContext } from './context.js';

export { repeatable };

/** Resolvers for the sites of all projects, which have contexts of different types. */
type ForAllSites<Resolvers> = {
  readonly [Field in keyof Resolvers]: Resolvers[Field] extends (
    parent: infer Parent,
    args: infer Args,
    context: SiteContext,
    info: infer Info,
  ) => infer Result
    ? (parent: Parent, args: Args, context: CommonContext, info: Info) => Result
    : never;
};

const siteResolvers: ForAllSites<SiteResolvers['Site']> = {
  /** The time of the last scan, which wrote it as a field of the `SiteBuildMetadata` record. */
  buildTime: repeatable(
    (_site, _args, { records }) => {
      const build = records.find('SiteBuildMetadata', {}, BUILD_TIME);
      return (build?.buildTime ?? null) as string | null;
    },
    ['SiteBuildMetadata'],
  ),
};

const BUILD_TIME = {
  values: [{ kind: 'column', name: 'buildTime', column: 'buildTime', holds: 'value' }],
  relations: [],
} as const;

const fileResolvers: ForAllSites<SiteResolvers['File']> = {
  publicURL: repeatable(({ base, 'internal.contentDigest': stored }, _args, { publicFiles, readDigest, budget }) => {
    const digest = readDigest(stored, budget.waitMs);
    const toLink = (contentDigest: string): string => publicFiles.linkTo({ base, contentDigest });
    return typeof digest === 'string' ? toLink(digest) : digest.then(toLink);
  }, []),
};

/**
 * Filters compare the path without the signature, which is different each time. They don't wait for a large file to be
 * read.
 */
const fileValues: ForAllSites<SiteResolvers['File']> = {
  publicURL: ({ base, 'internal.contentDigest': contentDigest }, _args, { publicFiles }) =>
    isPendingDigest(contentDigest) ? null : publicFiles.pathOf({ base, contentDigest }),
};

type Resolvers = ForAllSites<SiteResolvers['ImageProc']>;

/** An image is derived from its file. */
const OF_FILE = ['File'];

const fixed: Resolvers['fixed'] = repeatable((image, args, context) => derive('fixed', image, args, context), OF_FILE);

const fluid: Resolvers['fluid'] = repeatable((image, args, context) => derive('fluid', image, args, context), OF_FILE);

const imageProcResolvers: Resolvers = {
  fixed,
  fluid,
  original: repeatable(
    (image, _args, context) => resolveWithSource(image, context, (source) => context.images.original(source)),
    OF_FILE,
  ),
  resize: repeatable((image, args, context) => derive('resize', image, args, context), OF_FILE),
  resolutions: fixed as Resolvers['resolutions'],
  sizes: fluid as Resolvers['sizes'],
};

function derive<Field extends FieldName>(
  field: Field,
  image: Pick<ImageProcRecord, 'parent'>,
  args: FieldArguments[Field],
  context: CommonContext,
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
  context: CommonContext,
  resolve: (source: ImageSource) => object | Promise<object>,
): never {
  if (parent === null) return null as never;
  const known = context.pictures.known(parent);
  if (known) return resolve(known) as never;
  return context.loadImageSource(parent).then((source) => (source ? resolve(source) : null)) as never;
}

/** Filters use the values of images that need no pixels. */
const imageProcValues: Readonly<Record<keyof Resolvers, ImageValue>> = {
  fixed: peek('fixed'),
  fluid: peek('fluid'),
  original: peek('original'),
  resize: peek('resize'),
  resolutions: peek('fixed'),
  sizes: peek('fluid'),
};

type ImageValue = (image: Pick<ImageProcRecord, 'parent'>, args: object, context: CommonContext) => Promise<unknown>;

/** Reads the header of an image, then its values. An unreadable image has no values. */
function peek(field: Parameters<CommonContext['images']['peek']>[0]): ImageValue {
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

/** The resolvers of the types that every site has: files, images and the site itself. */
export const baseResolvers = { File: fileResolvers, ImageProc: imageProcResolvers, Site: siteResolvers };

/** The functions that replace them in filters, sorts and groups. */
export const baseValues = { File: fileValues, ImageProc: imageProcValues };
