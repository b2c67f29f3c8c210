import type { Images } from '../images/images.js';
import type { ImageSource } from '../images/source.js';
import type { ImageSources } from '../site-images.js';
import type { PublicFiles } from '../site/public/public-files.js';
import type { FormatDate } from '../site/query/dates.js';
import type { ComputedValues, RecordQueries, WorkMeter } from '../site/query/record-queries.js';
import { type BatchLoad, createBatchLoader } from './batch-loader.js';
import { createComputedValues } from './computed-values.js';
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
  /** Loads the file of an image by the file's id. */
  readonly loadImageSource: BatchLoad<string, ImageSource>;
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
    return (this.#loadPicture ??= createBatchLoader((ids: readonly string[]) => this.pictures.findAll(ids)));
  }

  get computed(): ComputedValues {
    return (this.#computed ??= createComputedValues(this));
  }
}
