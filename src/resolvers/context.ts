import { AppError } from '@trellis/core/errors';
import type { Images } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';
import type { PublicFiles } from '@trellis/site/public/public-files';
import type { FormatDate } from '@trellis/site/query/dates';
import type { ComputedValues, RecordQueries, WorkMeter } from '@trellis/site/query/record-queries';
import DataLoader from 'dataloader';
import type { ImageSources } from '../site-images.js';
import type { ImagePolicy } from './stored-arguments.js';

/** The services of the site that resolvers use. */
export interface SiteServices {
  readonly records: RecordQueries;
  readonly publicFiles: Pick<PublicFiles, 'linkTo' | 'pathOf'>;
  readonly pictures: Pick<ImageSources, 'findAll' | 'known'>;
  readonly images: Pick<Images, 'original' | 'answer' | 'peek'>;
  /** Determines the allowed arguments of image fields. */
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: FormatDate;
}

/** The remaining work and response size of one request. All methods throw when a limit is exceeded. */
export interface ResolverBudget extends WorkMeter {
  /** Whether a limit has been exceeded. */
  readonly isOver: boolean;
  /** Counts the values in a part of the response. */
  spend(values: number): void;
  /** Does the same as {@link WorkMeter.work}, but lets other requests run first if this one has used much time. */
  workInTurn<T>(piece: () => T): T | Promise<T>;
}

/** The context of one request, which all its resolvers receive. */
export interface SiteContext extends SiteServices {
  readonly budget: ResolverBudget;
  /** Loads the file of an image by the file's id, in a batch with the files that are requested at the same time. */
  readonly loadImageSource: (id: string) => Promise<ImageSource | undefined>;
  /** The values of computed fields for filters and sorting. */
  readonly computed: ComputedValues;
}

export const createSiteContext = (services: SiteServices, budget: ResolverBudget): SiteContext =>
  new RequestContext(services, budget);

/** Creates its loaders on first use, as most requests load no image and compute nothing. */
class RequestContext implements SiteContext {
  readonly records: SiteServices['records'];
  readonly publicFiles: SiteServices['publicFiles'];
  readonly pictures: SiteServices['pictures'];
  readonly images: SiteServices['images'];
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: SiteServices['formatDate'];
  readonly budget: ResolverBudget;
  #loadPicture: SiteContext['loadImageSource'] | undefined;
  #computed: ComputedValues | undefined;

  constructor(
    { records, publicFiles, pictures, images, imagePolicy, formatDate }: SiteServices,
    budget: ResolverBudget,
  ) {
    this.records = records;
    this.publicFiles = publicFiles;
    this.pictures = pictures;
    this.images = images;
    this.imagePolicy = imagePolicy;
    this.formatDate = formatDate;
    this.budget = budget;
  }

  get loadImageSource(): SiteContext['loadImageSource'] {
    return (this.#loadPicture ??= createImageLoader(this.pictures));
  }

  get computed(): ComputedValues {
    return (this.#computed ??= createComputedValues(this));
  }
}

/** Batches the images that the records of a list request in the same turn. A deleted file has no image. */
function createImageLoader({ findAll }: SiteServices['pictures']): SiteContext['loadImageSource'] {
  const loader = new DataLoader(async (ids: readonly string[]) => {
    const found = findAll(ids);
    return ids.map((id) => found.get(id));
  });
  return (id) => loader.load(id);
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

  'Site.buildTime': (_site, { records }) => findBuildTime(records),
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

const createComputedValues = (services: Services): ComputedValues => ({
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

/** Returns the time of the last scan, which wrote it as a field of the `SiteBuildMetadata` record. */
export function findBuildTime(records: RecordQueries): string | null {
  const build = records.find('SiteBuildMetadata', {}, BUILD_TIME);
  return (build?.buildTime ?? null) as string | null;
}

const BUILD_TIME = {
  values: [{ kind: 'column', name: 'buildTime', column: 'buildTime', holds: 'value' }],
  relations: [],
} as const;
