// Decides whether a run goes on whose ranks have been lost or change in number, and from which state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/shared_snapshots.h"
#include "runtime/launch/host_meeting.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/process/supervisor.h"
#include "runtime/train/host_facts.h"
#include "runtime/train/job.h"
#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

// Of the process that starts the ranks of --restarts and --resize.
class Restarts {
 public:
  // `options` are those that the user has given.
  explicit Restarts(const Options& options) : options_(options), left_(options.run.restarts) {}

  bool is_on() const { return options_.run.restarts != 0 || !options_.run.resize.empty(); }
  // InvalidArgument where this process does not start the ranks.
  absl::Status CheckStarts(const launch::RankEnvironment& environment) const;

  // Whether the launchers of several hosts meet before they start ranks.
  bool meets_hosts(const launch::RankEnvironment& environment) const {
    return is_on() && environment.is_launcher && environment.nodes > 1;
  }
  // Waits for those of the other hosts, and agrees with them on the state to go on from: then options() say this host's
  // number and where its ranks meet the others. False for a spare when the run has ended without it. Errors as of
  // launch::HostMeeting::Meet.
  absl::StatusOr<bool> MeetHosts(const launch::RankEnvironment& environment, const std::string& secret);
  bool has_met() const { return has_met_; }
  // Tells the spares that wait that the run has ended.
  void TellEnd(const absl::Status& status) {
    if (hosts_ != nullptr) hosts_->TellEnd(launch::EndsWell(status) ? absl::OkStatus() : status);
  }
  // Tells these, whom this launcher has not met, that it cannot start its ranks.
  void TellHosts(const launch::RankEnvironment& environment, const std::string& secret, const absl::Status& cause);

  // Gives the job memory for copies of its state, before its ranks are started. ResourceExhausted without memory.
  absl::Status Keep(const launch::RankEnvironment& environment, train::Job& job);

  // The job has ended with `status`. True when another must be started: then options() and TakeKept() are its own.
  // Notes and logs why.
  bool GoesOn(const absl::Status& status);
  // Called when ranks fail.
  void Note(const process::Failure& failure) { failure_ = failure; }
  // Called on SIGHUP: whether the file of --resize says another number of ranks, for which there is a plan.
  bool AsksToResize();

  const Options& options() const { return options_; }
  // Cores on which ranks were too slow.
  const std::vector<int>& avoided_cores() const { return avoided_; }
  // The state in memory to go on from, if that is newer than any checkpoint.
  std::optional<train::KeptState> TakeKept() { return std::exchange(kept_, std::nullopt); }

 private:
  // A job that has been lost, and how many ranks the next one has instead.
  struct Loss {
    process::Failure failure;
    std::optional<uint32_t> ranks;
    std::string tail;  // of the note about it
  };

  // Takes over the step that ranks have begun with, where they have agreed on a checkpoint.
  void TakeAgreedStep();
  bool GoesOnAfter(const process::Failure& failure);
  // In the place of a straggler, which has stopped as all have.
  bool GoesOnElsewhere(const train::ReplacementBoard::Request& straggler);
  void TellReplacement();
  // This host's ranks go on on another host: forgets them. Returns what a spare knows.
  std::string BecomeSpare();
  absl::Status KeepReplacements(train::Job& job);
  void ChooseState();
  // The note and the line of the log about the last loss, once it is known how the run goes on.
  void TellLoss();
  std::string LossJson() const;
  launch::HostMeeting& HostsOf(const launch::RankEnvironment& environment, const std::string& secret);
  // Of what is left for further ranks.
  void ForgetDamagedCopies();
  train::HostFacts Facts() const;
  absl::Status AgreeWith(const launch::HostRoster& roster);
  absl::Status GoOnFrom(const train::AgreedState& state, const train::HostFacts::Run& run, bool has_copy);
  void SetRanks(uint32_t ranks);
  // The most ranks below those of now that --min-ranks and the artifact's plans allow.
  std::optional<uint32_t> FewerRanks() const;
  void Log(const std::string& json) const;

  Options options_;  // of the next job
  uint64_t left_;
  uint32_t ranks_ = 0;                         // of the job before
  std::optional<uint64_t> begin_, end_;        // steps done when the run begins, and when it is done
  std::shared_ptr<train::AgreedStep> agreed_;  // of ranks that verify a checkpoint; else null
  bool begins_ = false;                        // whether the run begins with these ranks
  uint32_t nodes_ = 1;
  std::optional<process::Failure> failure_;
  std::optional<uint32_t> wanted_ranks_;  // by --resize
  absl::Time wanted_at_;
  std::shared_ptr<checkpoint::SharedSnapshots> snapshots_, before_;
  std::optional<train::KeptState> kept_;
  std::optional<Loss> loss_;  // until it is told
  std::unique_ptr<launch::HostMeeting> hosts_;
  bool has_met_ = false, was_spare_ = false;
  std::shared_ptr<train::ReplacementBoard> replacements_;
  std::vector<int> avoided_;
  train::RankRange host_;                                       // that this process started last
  std::optional<train::ReplacementBoard::Request> giving_way_;  // until it is told
  std::optional<uint64_t> replaced_;                            // the step before which a rank was replaced last
  bool has_spare_host_ = false;
};

}  // namespace sgd::sgdrun
