/** Returns the path of a project in GitLab's REST API, where the full name with its groups is one segment. */
export function projectPath(fullName: string): string {
  return `/projects/${encodeURIComponent(fullName)}`;
}

/** Returns the number at the end of a GraphQL id, which is the id in the REST API. */
export function numberOf(globalId: string): string {
  return globalId.replace(/^.*\//, '');
}
