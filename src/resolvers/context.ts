import type { Images } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';
import type { MarkdownTexts } from '@trellis/site/graphql/computed-fields';
import type { ResolverBudget } from '@trellis/site/graphql/context';
import { RecordAccess } from '@trellis/site/graphql/record-access';
import type { PublicFiles } from '@trellis/site/public-files';
import type { FormatDate } from '@trellis/site/query/dates';
import type { RecordQueries } from '@trellis/site/query/record-queries';
import type { ChangeFeed } from '@trellis/site/record-changes';
import type { Site } from '@trellis/site/site';
import DataLoader from 'dataloader';
import type { RecordsByKind } from '../generated/site/records.js';
import type { ImageSources } from '../site-data/images.js';
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
  /** Renders the fields with `@markdown`. */
  readonly markdown?: MarkdownTexts;
  /** The changes that subscriptions follow. */
  readonly changes?: ChangeFeed;
  /** Waits for the digest of a large file. If absent, no digest is pending. */
  readonly readDigest?: Site['readDigest'];
}

/** The part of the context that is the same for all sites. */
export interface CommonContext extends SiteServices {
  readonly budget: ResolverBudget;
  readonly readDigest: Site['readDigest'];
  /** Loads the file of an image by the file's id, in a batch with the files that are requested at the same time. */
  readonly loadImageSource: (id: string) => Promise<ImageSource | undefined>;
}

/**
 * The context of one request, which all its resolvers receive.
 *
 * @template ByKind The stored records of the application by record type.
 */
export interface SiteContext<ByKind extends object = RecordsByKind> extends CommonContext {
  /** Reads records for hand-written resolvers. */
  readonly query: RecordAccess<ByKind>;
}

export const createSiteContext = (services: SiteServices, budget: ResolverBudget): SiteContext =>
  new RequestContext(services, budget);

/** Creates its loaders on first use, as most requests load no image and have no hand-written query. */
class RequestContext implements SiteContext {
  readonly records: SiteServices['records'];
  readonly publicFiles: SiteServices['publicFiles'];
  readonly pictures: SiteServices['pictures'];
  readonly images: SiteServices['images'];
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: SiteServices['formatDate'];
  readonly markdown?: MarkdownTexts;
  readonly changes?: ChangeFeed;
  readonly readDigest: Site['readDigest'];
  readonly budget: ResolverBudget;
  #loadPicture: SiteContext['loadImageSource'] | undefined;
  #query: SiteContext['query'] | undefined;

  constructor(
    {
      records,
      publicFiles,
      pictures,
      images,
      imagePolicy,
      formatDate,
      markdown,
      changes,
      readDigest = (digest) => digest,
    }: SiteServices,
    budget: ResolverBudget,
  ) {
    this.records = records;
    this.publicFiles = publicFiles;
    this.pictures = pictures;
    this.images = images;
    this.imagePolicy = imagePolicy;
    this.formatDate = formatDate;
    if (markdown) this.markdown = markdown;
    if (changes) this.changes = changes;
    this.readDigest = readDigest;
    this.budget = budget;
  }

  get loadImageSource(): SiteContext['loadImageSource'] {
    return (this.#loadPicture ??= createImageLoader(this.pictures));
  }

  get query(): SiteContext['query'] {
    return (this.#query ??= new RecordAccess(this));
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
