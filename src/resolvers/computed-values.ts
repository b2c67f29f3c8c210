import { AppError } from '../core/errors.js';
import type { ImageSource } from '../images/source.js';
import type { ComputedValues } from '../site/query/record-queries.js';
import type { SiteContext, SiteServices } from './context.js';
import { siteResolvers } from './site.js';

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
const IMAGE_FIELDS = {
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
    const name = IMAGE_FIELDS[field as keyof typeof IMAGE_FIELDS];
    return Promise.all(records.map((record) => imageValue(name, record, services)));
  },
});

const isImageField = (kind: string, field: string): boolean => kind === 'ImageProc' && field in IMAGE_FIELDS;

type ImageField = (typeof IMAGE_FIELDS)[keyof typeof IMAGE_FIELDS];

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
