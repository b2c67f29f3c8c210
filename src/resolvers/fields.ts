import { AppError } from '@trellis/core/errors';
import type { ImageProcRecord } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import type { FieldArguments, FieldName } from '@trellis/images/plan/field-results';
import type { ImageSource } from '@trellis/images/source';
import type { ComputedValues } from '@trellis/site/query/record-queries';
import type { SiteContext, SiteServices } from './context.js';

/** The build time is a field of the `SiteBuildMetadata` record, which the scan writes. */
export const siteResolvers: SiteResolvers['Site'] = {
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

type Services = SiteServices & Pick<SiteContext, 'loadImageSource'>;
type SiteRecord = Readonly<Record<string, unknown>>;

/**
 * The values of computed fields for filters, sorting and grouping: the result of the resolver with default arguments,
 * but without its side effects. Fields that are not listed have no value.
 */
const VALUES: Readonly<Record<string, (record: SiteRecord, services: Services) => unknown>> = {
  'File.publicURL': ({ base, 'internal.contentDigest': digest }, { publicFiles }) =>
    publicFiles.pathOf({ base: String(base), contentDigest: String(digest) }),

  'Site.buildTime': (_site, services) =>
    siteResolvers.buildTime({ id: '' }, {}, services as SiteContext, undefined as never),
};

/** The computed fields of images, each with the field that it is an alias of. */
const COMPUTED_IMAGE_FIELDS = {
  fixed: 'fixed',
  fluid: 'fluid',
  original: 'original',
  resize: 'resize',
  resolutions: 'fixed',
  sizes: 'fluid',
} as const;

export const createComputedValues = (services: Services): ComputedValues => ({
  find(kind, field, record) {
    if (isImageField(kind, field)) return undefined;
    return VALUES[`${kind}.${field}`]?.(record, services) ?? null;
  },

  load: (_kind, field, records) => {
    const name = COMPUTED_IMAGE_FIELDS[field as keyof typeof COMPUTED_IMAGE_FIELDS];
    return Promise.all(records.map((record) => imageValue(name, record, services)));
  },
});

const isImageField = (kind: string, field: string): boolean => kind === 'ImageProc' && field in COMPUTED_IMAGE_FIELDS;

type ImageField = (typeof COMPUTED_IMAGE_FIELDS)[keyof typeof COMPUTED_IMAGE_FIELDS];

async function imageValue(field: ImageField, { parent }: SiteRecord, services: Services): Promise<unknown> {
  const source = typeof parent === 'string' ? await services.loadImageSource(parent) : undefined;
  return source && (await peekAfterReading(field, source, services));
}

/** Reads the header of an image, then its values. An unreadable image has no values. */
async function peekAfterReading(field: ImageField, source: ImageSource, { images }: Services): Promise<unknown> {
  try {
    await images.original(source);
    return images.peek(field, source);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
