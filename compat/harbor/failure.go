package harbor

// failure is what Harbor makes of exceptions of one name.
type failure struct {
	group string
	// valid says that a reward that was recorded beside one still is the solution's.
	valid bool
}

// unclassified are names that are in no group.
const unclassified = "unclassified"

// failures are the groups of exceptions, by the names of their classes.
var failures = byName(map[string][]string{
	"sandbox_failed": {
		"EnvironmentStartTimeoutError", "SandboxBuildFailedError", "AgentSetupTimeoutError", "HealthcheckError",
		"SandboxLikelyOutOfMemoryError", "MemoryLimitExceededError", "SSHAccessError", "GKEExecStreamClosedError",
		"GKEPodNotFoundError", "RuntimeRequestError", "AddTestsDirError", "DownloadVerifierDirError",
	},
	"model_provider_failed": {
		"ApiError", "ApiRateLimitError", "ApiInternalServerError", "ApiOverloadedError", "ApiConnectionClosedError",
		"ApiResponseStalledError", "ApiConnectionError", "ApiUsageLimitError", "UnknownApiError", "NetworkConnectionError",
		"RateLimitError", "InternalServerError", "ServiceUnavailableError", "APIConnectionError", "APIError", "Timeout",
		"BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError", "UnsupportedModelParametersError",
		"APIResponseValidationError", "BudgetExceededError", "AgentAuthenticationError", "ModelNotFoundError",
		"ApiProviderResourceNotFoundError", "AuthenticationError", "PermissionDeniedError", "NotFoundError",
	},
	"harbor_failed":          {"ServiceOperationsUnsupportedError", "VercelScopeError", "DspyImportError", "MissingExtraError", "RegradeError"},
	"agent_exhausted_budget": {"AgentTimeoutError", "ContextWindowExceededError", "OutputTokenExceededError", "ContextLengthExceededError", "OutputLengthExceededError"},
	"agent_refused_task":     {"AgentSafetyRefusalError", "ContentPolicyViolationError"},
	"verifier_failed":        {"VerifierTimeoutError", "RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError"},
	"cancelled":              {"CancelledError"},
})

func byName(groups map[string][]string) map[string]failure {
	all := map[string]failure{}
	for group, names := range groups {
		for _, name := range names {
			all[name] = failure{group, group == "agent_exhausted_budget" || group == "agent_refused_task"}
		}
	}
	return all
}

// failureOf classifies an exception. A name that is not known proves nothing about the
// reward beside it.
func failureOf(name string) failure {
	if f, known := failures[name]; known {
		return f
	}
	return failure{group: unclassified}
}
