package harbor

import (
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// failure describes how Harbor treats exceptions of a name.
type failure struct {
	group string
	// valid reports that Harbor accepts a reward that was recorded next to one.
	valid bool
	// own reports that the agent itself ended so: what it did not reach is its doing.
	own bool
}

// The exceptions that an export has for what has no verdict here.
const (
	verifierTimeout  = "VerifierTimeoutError"
	rewardNotFound   = "RewardFileNotFoundError"
	rewardEmpty      = "RewardFileEmptyError"
	outputUnreadable = "VerifierOutputParseError"
	notRegraded      = "RegradeError"
	machineFailed    = "RuntimeError" // of no group, as a container that does not start
)

// unclassified are names that are in no group.
const (
	unclassified = "unclassified"
	agentFailed  = "agent_failed"
	agentTimeout = "AgentTimeoutError"

	sandboxFailed = "sandbox_failed"
)

// failures are the groups of exceptions, by the names of their classes.
var failures = byName(map[string][]string{
	sandboxFailed: {
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
	"harbor_failed":          {"ServiceOperationsUnsupportedError", "VercelScopeError", "DspyImportError", "MissingExtraError", notRegraded},
	"agent_exhausted_budget": {agentTimeout, "ContextWindowExceededError", "OutputTokenExceededError", "ContextLengthExceededError", "OutputLengthExceededError"},
	"agent_refused_task":     {"AgentSafetyRefusalError", "ContentPolicyViolationError"},
	"verifier_failed":        {verifierTimeout, rewardNotFound, rewardEmpty, outputUnreadable},
	"cancelled":              {"CancelledError"},
	agentFailed:              {"NonZeroAgentExitCodeError"},
})

func byName(groups map[string][]string) map[string]failure {
	all := map[string]failure{}
	for group, names := range groups {
		own := group == "agent_exhausted_budget" || group == "agent_refused_task"
		for _, name := range names {
			all[name] = failure{group, own || group == agentFailed, own}
		}
	}
	return all
}

// failureOf classifies an exception. Beside one whose name it does not know Harbor takes a
// reward.
func failureOf(name string) failure {
	if f, known := failures[name]; known {
		return f
	}
	return failure{group: unclassified, valid: true}
}

// exceptionName returns the name of the exception that an export writes for the end of a checkpoint, or ""
// if the checkpoint has a verdict. Whatever the solution causes is a verdict.
func exceptionName(c *report.Checkpoint, left plan.VerifierOutput) string {
	switch c.Class {
	case verdict.SessionTimeout:
		return verifierTimeout
	case verdict.InputError:
		return notRegraded
	case verdict.NoScore, verdict.NoReport:
		return rewardNotFound
	}
	if c.Class.Status() != verdict.Broken {
		return ""
	}
	switch left.NoReward {
	case plan.MissingReward:
		return rewardNotFound
	case plan.EmptyReward:
		return rewardEmpty
	case plan.UnusableReward:
		return outputUnreadable
	}
	return machineFailed
}

// ended holds the fields that a trial and a step share, read or written.
type ended struct {
	Exception *exception `json:"exception_info"`
}

func (e *ended) exception() *exception { return e.Exception }

// exceptions returns the exceptions of a trial, then those of its steps.
func exceptions[S any, P interface {
	*S
	exception() *exception
}](trial *ended, steps []S) (all []*exception) {
	if trial.Exception != nil {
		all = append(all, trial.Exception)
	}
	for i := range steps {
		if e := P(&steps[i]).exception(); e != nil {
			all = append(all, e)
		}
	}
	return all
}
