/** The path of a project in GitLab's REST API, where a name is one segment with all its groups. */
export function projectPath(fullName: string): string {
  return `/projects/${encodeURIComponent(fullName)}`;
}

/** The number at the end of what GraphQL calls something, by which REST knows it. */
export function numberOf(globalId: string): string {
  return globalId.replace(/^.*\//, '');
}
