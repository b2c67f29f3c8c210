import type { Images } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';
import type { ComputedValues } from '@trellis/site/query/record-queries';
import type { FormatDate } from '@trellis/site/query/dates';
import type { ImageSources } from '../site-images.js';
import type { PublicFiles } from '@trellis/site/public/public-files';
import type { WorkMeter, RecordQueries } from '@trellis/site/query/record-queries';
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
