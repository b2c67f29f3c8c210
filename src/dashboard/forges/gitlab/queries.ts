/** GitLab's GraphQL queries. Each reads one project, as GitLab limits the complexity of a query. */

const PROJECT = `
  fragment project on Project {
    id fullPath webUrl archived isForked lastActivityAt
    userPermissions { pushCode adminProject }
    latestMergeRequests: mergeRequests(state: opened, first: 1, sort: UPDATED_DESC) { count nodes { updatedAt } }
    latestIssues: issues(state: opened, first: 1, sort: UPDATED_DESC) { count nodes { updatedAt } }
  }`;

const MERGE_REQUEST = `
  fragment mergeRequest on MergeRequest {
    iid title webUrl createdAt updatedAt draft state
    author { username }
    labels(first: 20) { nodes { title color } }
    sourceBranch targetBranch sourceProjectId targetProjectId diffHeadSha
    detailedMergeStatus conflicts divergedFromTargetBranch autoMergeEnabled
    diffStatsSummary { fileCount }
    approved approvedBy { nodes { username } }
    reviewers { nodes { username mergeRequestInteraction { reviewState } } }
    headPipeline { id status }
  }`;

const MERGE_REQUESTS = `
  fragment mergeRequests on Project {
    mergeRequests(state: opened, first: 50, after: $mergeRequestsAfter, sort: CREATED_ASC) {
      pageInfo { hasNextPage endCursor }
      nodes { ...mergeRequest }
    }
  }`;

const ISSUES = `
  fragment issues on Project {
    issues(state: opened, first: 50, after: $issuesAfter, sort: CREATED_ASC) {
      pageInfo { hasNextPage endCursor }
      nodes {
        iid title webUrl createdAt updatedAt
        author { username }
        labels(first: 20) { nodes { title color } }
      }
    }
  }`;

export const DISCOVER = `
  query Discover($after: String) {
    projects(membership: true, first: 50, after: $after, sort: "id_asc") {
      pageInfo { hasNextPage endCursor }
      nodes { ...project }
    }
  }${PROJECT}`;

export const READ_PROJECT = `
  query ReadProject($path: ID!, $mergeRequestsAfter: String, $issuesAfter: String) {
    project(fullPath: $path) { ...project ...mergeRequests ...issues }
  }${PROJECT}${MERGE_REQUEST}${MERGE_REQUESTS}${ISSUES}`;

export const MORE_MERGE_REQUESTS = `
  query MoreMergeRequests($path: ID!, $mergeRequestsAfter: String) {
    project(fullPath: $path) { ...mergeRequests }
  }${MERGE_REQUEST}${MERGE_REQUESTS}`;

export const MORE_ISSUES = `
  query MoreIssues($path: ID!, $issuesAfter: String) { project(fullPath: $path) { ...issues } }${ISSUES}`;

export const READ_MERGE_REQUEST = `
  query ReadMergeRequest($path: ID!, $iid: String!) {
    project(fullPath: $path) { mergeRequest(iid: $iid) { ...mergeRequest headPipeline { project { fullPath } } } }
  }${MERGE_REQUEST}`;
