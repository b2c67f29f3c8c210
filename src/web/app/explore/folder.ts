import { ask } from './ask.js';

export interface Entry {
  readonly id: string;
  readonly name: string;
  readonly relativePath: string;
}

export interface FileEntry extends Entry {
  readonly base: string;
  readonly extension: string;
  readonly prettySize: string;
  readonly modifiedTime: string;
  readonly childImageProc: { readonly resize: { readonly src: string } | null } | null;
}

export interface Folder {
  readonly folders: readonly Entry[];
  readonly files: readonly FileEntry[];
  readonly fileCount: number;
}

/** So many are shown of a folder at first, and more on request; each may be a picture. */
export const PAGE = 60;

const FOLDER = `query folder($path: String!, $limit: Int!) {
  allDirectory(filter: {relativeDirectory: {eq: $path}, relativePath: {ne: ""}}, sort: {fields: [name]}, limit: 500) {
    nodes { id name relativePath }
  }
  allFile(filter: {relativeDirectory: {eq: $path}}, sort: {fields: [base]}, limit: $limit) {
    totalCount
    nodes {
      id name base extension relativePath prettySize modifiedTime
      childImageProc { resize(width: 160, height: 120) { src } }
    }
  }
}`;

interface FolderAnswer {
  readonly allDirectory: { readonly nodes: readonly Entry[] };
  readonly allFile: { readonly totalCount: number; readonly nodes: readonly FileEntry[] };
}

/** What lies in a folder, whose path is from the root of its source; empty for the root. */
export async function readFolder(path: string, limit: number): Promise<Folder> {
  const { allDirectory, allFile } = await ask<FolderAnswer>(FOLDER, { path, limit });
  return { folders: allDirectory.nodes, files: allFile.nodes, fileCount: allFile.totalCount };
}

/** Every field of a file that holds one value, in the order of the schema. */
const FIELDS = [
  ...['id', 'sourceInstanceName', 'absolutePath', 'relativePath', 'relativeDirectory', 'root', 'dir', 'base', 'ext'],
  ...[
    'extension',
    'name',
    'size',
    'prettySize',
    'modifiedTime',
    'accessTime',
    'changeTime',
    'birthTime',
    'dev',
    'mode',
  ],
  ...['nlink', 'uid', 'gid', 'rdev', 'ino', 'atimeMs', 'mtimeMs', 'ctimeMs', 'atime', 'mtime', 'ctime', 'blksize'],
  ...['blocks', 'publicURL'],
];

const FILE = `query file($id: String!) {
  file(id: {eq: $id}) {
    ${FIELDS.join(' ')}
    internal { contentDigest mediaType type description owner }
    childImageProc { id original { width height src } }
  }
}`;

export interface FileDetails {
  readonly fields: readonly (readonly [string, string])[];
  readonly relativePath: string;
  readonly publicURL: string | null;
  readonly image: { readonly width: number; readonly height: number; readonly src: string } | undefined;
}

type FileAnswer = Readonly<Record<string, unknown>> & {
  readonly relativePath: string;
  readonly publicURL: string | null;
  readonly internal: Readonly<Record<string, unknown>>;
  readonly childImageProc: { readonly original: FileDetails['image'] | null } | null;
};

/** Everything that is known of a file; `undefined` when it is gone. */
export async function findFile(id: string): Promise<FileDetails | undefined> {
  const { file } = await ask<{ readonly file: FileAnswer | null }>(FILE, { id });
  if (file === null) return undefined;
  const show = (value: unknown): string =>
    value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  return {
    relativePath: file.relativePath,
    publicURL: file.publicURL,
    image: file.childImageProc?.original ?? undefined,
    fields: [
      ...FIELDS.map((name) => [name, show(file[name])] as const),
      ...Object.entries(file.internal).map(([name, value]) => [`internal.${name}`, show(value)] as const),
    ],
  };
}
