/**
 * The contract of the site's data, written by hand from its description and not from the code: the required members of
 * the generated schema and the permitted additional ones.
 *
 * An entry has the form `name: Type`, optionally followed by ` = default` or ` @deprecated`.
 */

/** Splits a line of entries at each comma that is followed by a space. */
const list = (text: string): string[] => text.split(/,\s+/);

/** Returns entries of one type: `each('Int!', 'a b')` is `a: Int!` and `b: Int!`. */
const each = (type: string, names: string): string[] => names.split(' ').map((name) => `${name}: ${type}`);

export const kinds = ['Directory', 'File', 'ImageProc', 'Site', 'SiteBuildMetadata', 'SitePage', 'SitePlugin'];

const COMBINED = 'Filters with alternatives or negations cannot be expressed otherwise.';
const SORTED_GROUPS =
  'Clients often need the largest groups first; by default, groups are sorted by value as in the contract.';

/** Record types beyond the contract, including everything derived from them, each with its reason. */
export const ownKinds: Readonly<Record<string, string>> = {
  Recipe: 'The documented example of a custom record type, which the example site has files for.',
};

/** The members of the schema beyond the contract, each with its reason. */
export const extras: Readonly<Record<string, string>> = {
  'ImageFormat.AVIF': 'Produces the smallest files, and current image tools can write it.',
  ...Object.fromEntries(
    kinds.flatMap((kind) => [
      [`${kind}FilterInput.or: [${kind}FilterInput!]`, COMBINED],
      [`${kind}FilterInput.not: ${kind}FilterInput`, COMBINED],
      [`${kind}Connection.group(sort: GroupSortInput)`, SORTED_GROUPS],
    ]),
  ),
  ...Object.fromEntries(
    [
      ...['Subscription', 'Subscription.siteChanged: SiteChange!', 'SiteChange', 'SiteChange.revision: Float!'],
      ...['SiteChange.kinds: [String!]!', 'SiteChange.ids: [ID!]!', 'SiteChange.isTruncated: Boolean!'],
    ].map((line) => [line, 'Clients follow changes instead of asking again and again.']),
  ),
  GroupSortInput: SORTED_GROUPS,
  'GroupSortInput.by: GroupSortKey! = VALUE': SORTED_GROUPS,
  'GroupSortInput.order: SortOrderEnum! = ASC': SORTED_GROUPS,
  GroupSortKey: SORTED_GROUPS,
  'GroupSortKey.COUNT': SORTED_GROUPS,
  'GroupSortKey.VALUE': SORTED_GROUPS,
};

export const scalars = ['Date'];

export const dateArguments = list('difference: String, formatString: String, fromNow: Boolean, locale: String');

/** Fields that take the arguments of a date. */
const stamps = 'accessTime atime birthTime changeTime ctime modifiedTime mtime';
export const formatted: Readonly<Record<string, string>> = {
  Directory: stamps,
  File: stamps,
  Site: 'buildTime port',
  SiteBuildMetadata: 'buildTime',
};

const node = list('children: [Node!]!, id: ID!, internal: Internal!, parent: Node');

const stat = [
  ...each('Date!', stamps),
  ...each('Float!', 'atimeMs ctimeMs ino mtimeMs'),
  ...each('Int!', 'dev gid mode nlink rdev size uid'),
  ...each('Int', 'blksize blocks'),
  ...each('String!', 'absolutePath base dir ext extension name prettySize relativeDirectory relativePath root'),
  'sourceInstanceName: String!',
  'birthtime: Date @deprecated',
  'birthtimeMs: Float @deprecated',
];

const fixed = list(
  'aspectRatio: Float, base64: String, height: Float!, originalName: String, src: String!, srcSet: String!, srcSetWebp: String, srcWebp: String, tracedSVG: String, width: Float!',
);

const fluid = list(
  'aspectRatio: Float!, base64: String, originalImg: String, originalName: String, presentationHeight: Int!, presentationWidth: Int!, sizes: String!, src: String!, srcSet: String!, srcSetWebp: String, srcWebp: String, tracedSVG: String',
);

const dependency = each('String', 'name version');

/** The hand-written object types and interfaces. */
export const objects: Readonly<Record<string, readonly string[]>> = {
  Node: node,
  Directory: [...stat, ...node],
  File: [...stat, 'childImageProc: ImageProc', 'publicURL: String', ...node],
  ImageProc: [
    ...list('fixed: ImageProcFixed, fluid: ImageProcFluid, original: ImageProcOriginal, resize: ImageProcResize'),
    'resolutions: ImageProcResolutions @deprecated',
    'sizes: ImageProcSizes @deprecated',
    ...node,
  ],
  ImageProcFixed: fixed,
  ImageProcResolutions: fixed,
  ImageProcFluid: fluid,
  ImageProcSizes: fluid,
  ImageProcOriginal: list('height: Float, src: String, width: Float'),
  ImageProcResize: list(
    'aspectRatio: Float, height: Int, originalName: String, src: String, tracedSVG: String, width: Int',
  ),
  Site: [
    ...list('buildTime: Date, host: String, pathPrefix: String, polyfill: Boolean, port: Date'),
    'siteMetadata: SiteSiteMetadata',
    ...node,
  ],
  SiteSiteMetadata: each('String', 'author description title'),
  SiteBuildMetadata: ['buildTime: Date', ...node],
  SitePage: [
    ...list('component: String!, componentChunkName: String!, componentPath: String, internalComponentName: String!'),
    ...list('isCreatedByStatefulCreatePages: Boolean, matchPath: String, path: String!, pluginCreator: SitePlugin'),
    'pluginCreatorId: String',
    ...node,
  ],
  SitePlugin: [
    ...list('browserAPIs: [String], name: String, nodeAPIs: [String], packageJson: SitePluginPackageJson'),
    ...list('pluginFilepath: String, pluginOptions: SitePluginPluginOptions, resolve: String, ssrAPIs: [String]'),
    'version: String',
    ...node,
  ],
  SitePluginPackageJson: [
    'author: String',
    'dependencies: [SitePluginPackageJsonDependencies]',
    'description: String',
    'devDependencies: [SitePluginPackageJsonDevDependencies]',
    ...list('keywords: [String], license: String, main: String, name: String'),
    'peerDependencies: [SitePluginPackageJsonPeerDependencies]',
    'version: String',
  ],
  SitePluginPackageJsonDependencies: dependency,
  SitePluginPackageJsonDevDependencies: dependency,
  SitePluginPackageJsonPeerDependencies: dependency,
  SitePluginPluginOptions: [
    ...each('String', 'background_color cacheDigest cache_busting_mode display icon'),
    ...each('Boolean', 'include_favicon legacy'),
    ...each('String', 'name path'),
    'pathCheck: Boolean',
    ...each('String', 'short_name start_url theme_color'),
    'theme_color_in_head: Boolean',
  ],
  Internal: [
    ...list('content: String, contentDigest: String!, description: String, fieldOwners: [String], ignoreType: Boolean'),
    ...list('mediaType: String, owner: String!, type: String!'),
  ],
  PageInfo: [
    ...list('currentPage: Int!, hasNextPage: Boolean!, hasPreviousPage: Boolean!, itemCount: Int!, pageCount: Int!'),
    ...list('perPage: Int, totalCount: Int!'),
  ],
};

/** The arguments of image fields, each with the fields that accept it: fixed (x), fluid (l) and resize (r). */
const imageArguments: readonly (readonly [string, string])[] = [
  ['background: String = "rgba(0,0,0,1)"', 'xlr'],
  ['base64Width: Int', 'xl'],
  ['base64: Boolean = false', 'r'],
  ['cropFocus: ImageCropFocus = ATTENTION', 'xlr'],
  ['duotone: DuotoneGradient', 'xlr'],
  ['fit: ImageFit = COVER', 'xlr'],
  ['grayscale: Boolean = false', 'xlr'],
  ['height: Int', 'xr'],
  ['width: Int', 'xr'],
  ['maxHeight: Int', 'l'],
  ['maxWidth: Int', 'l'],
  ['jpegProgressive: Boolean = true', 'xlr'],
  ['jpegQuality: Int', 'xlr'],
  ['pngQuality: Int', 'xlr'],
  ['webpQuality: Int', 'xlr'],
  ['quality: Int', 'xlr'],
  ['pngCompressionLevel: Int = 9', 'r'],
  ['pngCompressionSpeed: Int = 4', 'xlr'],
  ['rotate: Int = 0', 'xlr'],
  ['sizes: String = ""', 'l'],
  ['srcSetBreakpoints: [Int] = []', 'l'],
  ['toFormat: ImageFormat = NO_CHANGE', 'xlr'],
  ['toFormatBase64: ImageFormat = NO_CHANGE', 'xl'],
  ['traceSVG: Trace', 'xlr'],
  ['trim: Float = 0.0', 'xlr'],
];

const argumentsOf = (field: string): string[] =>
  imageArguments.filter(([, fields]) => fields.includes(field)).map(([entry]) => entry);

/** The arguments of hand-written fields, except those of dates. */
export const fieldArguments: Readonly<Record<string, readonly string[]>> = {
  'ImageProc.fixed': argumentsOf('x'),
  'ImageProc.resolutions': argumentsOf('x'),
  'ImageProc.fluid': argumentsOf('l'),
  'ImageProc.sizes': argumentsOf('l'),
  'ImageProc.resize': argumentsOf('r'),
};

const ordered = (type: string): string[] => [...each(type, 'eq ne gt gte lt lte'), ...each(`[${type}]`, 'in nin')];

/** The input types that are not derived from a record type. */
export const inputs: Readonly<Record<string, readonly string[]>> = {
  DuotoneGradient: list('highlight: String!, shadow: String!, opacity: Int'),
  Trace: [
    ...list('turnPolicy: TraceTurnPolicy, turdSize: Float, alphaMax: Float, optCurve: Boolean, optTolerance: Float'),
    ...list('threshold: Int, blackOnWhite: Boolean, color: String, background: String'),
  ],
  StringQueryOperatorInput: [...each('String', 'eq ne regex glob'), ...each('[String]', 'in nin')],
  IntQueryOperatorInput: ordered('Int'),
  FloatQueryOperatorInput: ordered('Float'),
  DateQueryOperatorInput: ordered('Date'),
  BooleanQueryOperatorInput: [...each('Boolean', 'eq ne'), ...each('[Boolean]', 'in nin')],
};

/** The types whose FilterInput has one member for each of their fields. */
export const filtered = Object.keys(objects).filter((name) => name !== 'PageInfo');

/** The types with a ListInput, whose only member is `elemMatch`. */
export const filteredLists = [
  'Node',
  'SitePluginPackageJsonDependencies',
  'SitePluginPackageJsonDevDependencies',
  'SitePluginPackageJsonPeerDependencies',
];

export const connection = (kind: string): Readonly<Record<string, readonly string[]>> => ({
  [`${kind}Connection`]: [
    ...list(`distinct: [String!]!, edges: [${kind}Edge!]!, group: [${kind}GroupConnection!]!, nodes: [${kind}!]!`),
    ...list('pageInfo: PageInfo!, totalCount: Int!'),
  ],
  [`${kind}Edge`]: list(`next: ${kind}, node: ${kind}!, previous: ${kind}`),
  [`${kind}GroupConnection`]: [
    ...list(`edges: [${kind}Edge!]!, field: String!, fieldValue: String, nodes: [${kind}!]!`),
    ...list('pageInfo: PageInfo!, totalCount: Int!'),
  ],
});

export const connectionArguments = (kind: string): Readonly<Record<string, readonly string[]>> => ({
  [`${kind}Connection.distinct`]: [`field: ${kind}FieldsEnum!`],
  [`${kind}Connection.group`]: list(`field: ${kind}FieldsEnum!, limit: Int, skip: Int`),
});

export const sortInput = (kind: string): string[] => [`fields: [${kind}FieldsEnum]`, 'order: [SortOrderEnum] = [ASC]'];

export const listArguments = (kind: string): string[] => [
  `filter: ${kind}FilterInput`,
  'limit: Int',
  'skip: Int',
  `sort: ${kind}SortInput`,
];

const words = (text: string): string[] => text.split(' ');
const under = (prefix: string, members: readonly string[]): string[] => members.map((name) => `${prefix}___${name}`);

const internal = under(
  'internal',
  words('content contentDigest description fieldOwners ignoreType mediaType owner type'),
);
// The members by the number of remaining segments. In the last segment, single objects have no member.
const lastStep = ['id', 'children'];
const twoSteps = ['id', ...under('parent', lastStep), 'children', ...under('children', lastStep), ...internal];
const threeSteps = ['id', ...under('parent', twoSteps), 'children', ...under('children', twoSteps), ...internal];
const fourSteps = ['id', ...under('parent', threeSteps), 'children', ...under('children', threeSteps), ...internal];

const names = (entries: readonly string[]): string[] => entries.map((entry) => entry.split(':')[0] ?? '');
const deprecated = (members: readonly string[]): string[] => members.map((name) => `${name} @deprecated`);

const picture = [
  ...under('fixed', names(fixed)),
  ...under('fluid', names(fluid)),
  ...under('original', words('height src width')),
  ...under('resize', words('aspectRatio height originalName src tracedSVG width')),
  ...under('resolutions', names(fixed)),
  ...under('sizes', names(fluid)),
];

const plugin = [
  ...words('browserAPIs name nodeAPIs'),
  ...under('packageJson', words('author dependencies dependencies___name dependencies___version description')),
  ...under('packageJson', words('devDependencies devDependencies___name devDependencies___version keywords license')),
  ...under(
    'packageJson',
    words('main name peerDependencies peerDependencies___name peerDependencies___version version'),
  ),
  'pluginFilepath',
  ...under(
    'pluginOptions',
    words('background_color cacheDigest cache_busting_mode display icon include_favicon legacy'),
  ),
  ...under('pluginOptions', words('name path pathCheck short_name start_url theme_color theme_color_in_head')),
  ...words('resolve ssrAPIs version'),
];

export const enums: Readonly<Record<string, readonly string[]>> = {
  ImageCropFocus: words('ATTENTION CENTER EAST ENTROPY NORTH NORTHEAST NORTHWEST SOUTH SOUTHEAST SOUTHWEST WEST'),
  ImageFit: words('CONTAIN COVER FILL INSIDE OUTSIDE'),
  ImageFormat: words('JPG NO_CHANGE PNG WEBP'),
  SortOrderEnum: words('ASC DESC'),
  TraceTurnPolicy: words(
    'TURNPOLICY_BLACK TURNPOLICY_WHITE TURNPOLICY_LEFT TURNPOLICY_RIGHT TURNPOLICY_MINORITY TURNPOLICY_MAJORITY',
  ),
  DirectoryFieldsEnum: [...names(stat), ...fourSteps],
  FileFieldsEnum: [
    ...names(stat),
    'publicURL',
    ...deprecated(under('childImageProc', [...picture, ...threeSteps])),
    ...fourSteps,
  ],
  ImageProcFieldsEnum: deprecated([...picture, ...fourSteps]),
  SiteFieldsEnum: [
    ...words('buildTime host pathPrefix polyfill port'),
    ...under('siteMetadata', words('author description title')),
    ...fourSteps,
  ],
  SiteBuildMetadataFieldsEnum: ['buildTime', ...fourSteps],
  SitePageFieldsEnum: [
    ...words('component componentChunkName componentPath internalComponentName isCreatedByStatefulCreatePages'),
    ...words('matchPath path pluginCreatorId'),
    ...under('pluginCreator', [...plugin, ...threeSteps]),
    ...fourSteps,
  ],
  SitePluginFieldsEnum: [...plugin, ...fourSteps],
};
