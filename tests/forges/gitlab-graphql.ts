import { type DocumentNode, execute, parse, TypeInfo, validate, visit, visitWithTypeInfo } from 'graphql';
import { gitlabSchema } from './gitlab-schema.js';
import type { GitlabIssue, GitlabMergeRequest, GitlabProject } from './gitlab-state.js';

export interface GitlabGraphqlState {
  readonly projects: readonly GitlabProject[];
  readonly url: string;
  readonly repeatsPages: boolean;
  /** Fields that an older server doesn't have, such as `Project.isForked`. */
  readonly lacks: readonly string[];
  /** The error of every search by person. */
  readonly searchError: string | undefined;
}

/** Executes a query like GitLab. Missing objects are null, without an error. */
export async function executeGitlab(body: string, state: GitlabGraphqlState): Promise<object> {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
  const document = documents.get(query) ?? parse(query);
  const unknown = state.lacks.length > 0 ? findUnknown(document, state.lacks) : [];
  const errors = unknown.length > 0 || documents.has(query) ? unknown : validate(gitlabSchema, document);
  if (errors.length > 0) return { errors };
  documents.set(query, document);
  const all = state.projects.flatMap((project) => project.mergeRequests.map((one) => ({ one, project })));
  const found = (isMine: (one: GitlabMergeRequest) => boolean) => (page: PageArguments) => {
    if (state.searchError !== undefined) throw new Error(state.searchError);
    const mine = all.filter(({ one }) => isMine(one) && (page.state === undefined || one.state === page.state));
    return toConnection(
      mine.map(({ one, project }) => ({
        ...toMergeRequestNode(one, project, `${state.url}/${project.fullPath}`),
        __typename: 'MergeRequest',
        project: () => toProjectNode(project, state),
      })),
      page,
      state,
    );
  };
  const mentions = found(({ mentions: people }) => people.includes('mona'));
  const rootValue = {
    currentUser: {
      authoredMergeRequests: found(({ username }) => username === 'mona'),
      assignedMergeRequests: found(({ assignees }) => assignees.includes('mona')),
      reviewRequestedMergeRequests: found(({ reviewers }) => reviewers.includes('mona')),
      // To-do items have states of their own.
      todos: ({ first, after }: PageArguments) => {
        const { nodes, pageInfo } = mentions({ first, after });
        return { nodes: nodes.map((target) => ({ target })), pageInfo };
      },
    },
    project: ({ fullPath }: { readonly fullPath: string }) => {
      const found = state.projects.find((one) => one.fullPath === fullPath);
      return found ? toProjectNode(found, state) : null;
    },
    projects: ({ ids, membership, ...page }: ProjectArguments) =>
      toConnection(
        state.projects
          .filter(({ id, isMember }) => ids?.includes(toGlobalId(id)) ?? (isMember || membership !== true))
          .map((one) => toProjectNode(one, state)),
        page,
        state,
      ),
  };
  return { ...(await execute({ schema: gitlabSchema, document, rootValue, variableValues: variables })) };
}

/** The valid queries so far. */
const documents = new Map<string, DocumentNode>();

/** Returns GitLab's error messages for the unsupported fields of a document. */
function findUnknown(document: DocumentNode, lacks: readonly string[]): object[] {
  const errors: object[] = [];
  const types = new TypeInfo(gitlabSchema);
  const Field = ({ name: { value: fieldName } }: { readonly name: { readonly value: string } }): void => {
    const typeName = types.getParentType()?.name ?? '';
    if (!lacks.includes(`${typeName}.${fieldName}`)) return;
    const message = `Field '${fieldName}' doesn't exist on type '${typeName}'`;
    errors.push({ message, path: ['query'], extensions: { code: 'undefinedField', typeName, fieldName } });
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return errors;
}

interface PageArguments {
  readonly first?: number;
  readonly after?: string | null;
  readonly state?: string;
  readonly sort?: string;
}

interface ProjectArguments extends PageArguments {
  readonly ids?: readonly string[];
  readonly membership?: boolean;
}

const toGlobalId = (id: number): string => `gid://gitlab/Project/${id}`;

function toProjectNode(project: GitlabProject, state: GitlabGraphqlState) {
  const { id, fullPath, pushCode, adminProject, mergeRequests, issues } = project;
  const webUrl = `${state.url}/${fullPath}`;
  return {
    ...project,
    id: toGlobalId(id),
    webUrl,
    userPermissions: { pushCode, adminProject },
    mergeRequest: ({ iid }: { readonly iid: string }) => {
      const found = mergeRequests.find((one) => String(one.iid) === iid);
      return found ? toMergeRequestNode(found, project, webUrl) : null;
    },
    mergeRequests: (page: PageArguments) => {
      const nodes = select(mergeRequests, page).map((one) => toMergeRequestNode(one, project, webUrl));
      return toConnection(nodes, page, state);
    },
    issues: (page: PageArguments) => {
      const nodes = select(issues, page).map((one) => toIssueNode(one, `${webUrl}/-/issues/${one.iid}`));
      return toConnection(nodes, page, state);
    },
  };
}

function select<T extends GitlabIssue>(items: readonly T[], { state, sort = 'CREATED_DESC' }: PageArguments): T[] {
  const key = sort.startsWith('UPDATED') ? 'updatedAt' : 'createdAt';
  const sign = sort.endsWith('DESC') ? -1 : 1;
  return items
    .filter((one) => state === undefined || one.state === state)
    .sort((a, b) => sign * a[key].localeCompare(b[key]));
}

function toConnection<T>(
  items: readonly T[],
  { first = 100, after }: PageArguments,
  { repeatsPages }: GitlabGraphqlState,
) {
  const start = after ? Number(Buffer.from(after, 'base64').toString()) : 0;
  const end = repeatsPages ? 0 : Math.min(start + first, items.length);
  return {
    count: items.length,
    nodes: repeatsPages ? items.slice(0, first) : items.slice(start, end),
    pageInfo: {
      hasNextPage: repeatsPages || end < items.length,
      endCursor: Buffer.from(String(end)).toString('base64'),
    },
  };
}

const toUser = (username: string) => ({ username, bot: /^(?:project|group)_\d+_bot/.test(username) });

function toIssueNode(issue: GitlabIssue, webUrl: string) {
  const { username, labels } = issue;
  return { ...issue, webUrl, author: username === null ? null : toUser(username), labels: { nodes: labels } };
}

function toMergeRequestNode(one: GitlabMergeRequest, { id, fullPath }: GitlabProject, webUrl: string) {
  const { iid, fromFork, fileCount, approvedBy, reviewers, reviewStates, pipeline, pipelineProject } = one;
  const toReviewer = (username: string) => ({
    username,
    mergeRequestInteraction: { reviewState: reviewStates[username] ?? 'UNREVIEWED' },
  });
  return {
    ...one,
    ...toIssueNode(one, `${webUrl}/-/merge_requests/${iid}`),
    sourceProjectId: fromFork ? id + 1 : id,
    targetProjectId: id,
    diffStatsSummary: { additions: one.additions, deletions: one.deletions, fileCount },
    commitCount: 1,
    notes: { nodes: one.notes.map(({ username, ...note }) => ({ ...note, author: toUser(username) })) },
    approvedBy: { count: approvedBy.length, nodes: approvedBy.map(toUser) },
    reviewers: { count: reviewers.length, nodes: reviewers.map(toReviewer) },
    // The id of a pipeline is the number of its merge request.
    headPipeline: pipeline && {
      id: `gid://gitlab/Ci::Pipeline/${iid}`,
      status: pipeline,
      sha: one.diffHeadSha,
      project: { fullPath: pipelineProject ?? fullPath },
    },
  };
}
